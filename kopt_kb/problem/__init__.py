"""What is to be computed: operations, shapes, data types, tolerances and their closed-form work."""
