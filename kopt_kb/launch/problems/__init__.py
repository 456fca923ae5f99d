"""Problems as others write them down: read into one reference file each, then described by a child that has torch."""
