"""The wiki: pages of sourced rows read strictly, merged, checked against physics, looked up and cited."""
