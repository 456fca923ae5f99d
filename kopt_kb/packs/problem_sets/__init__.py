"""Problems as public benchmarks write them."""
