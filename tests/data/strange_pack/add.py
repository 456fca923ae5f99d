"""/* kb
op = "elementwise"
shape = "Nx..."
dtypes = ["fp32"]
language = "sums"
function = "add"
[inputs]
x = "[elements]"
y = "[elements]"
[outputs]
out = "[elements]"
[[steps]]
launch = "add"
grid = ["cdiv(elements, 256)"]
block = [256]
arguments = ["x", "y", "out", "i32 elements"]
*/"""

from kopt_strange.language import kernel


@kernel
def add(x, y):
    return x, y
