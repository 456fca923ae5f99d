"""The roofline model: ceilings, intensity, bound, targets, waves and the time view."""
