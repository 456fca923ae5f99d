"""Launch records: what a launcher asks the GPU to do, recorded without one as plain data, replayed by the driver."""
