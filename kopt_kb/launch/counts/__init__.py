"""What is known of a kernel without a GPU: counts, resources, instructions, occupancy, roofline."""
