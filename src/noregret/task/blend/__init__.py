"""Follow the best of several forecasters without knowing which it is: `blend` a table, or a stream with a `Blender`.

The forecast is the mean of the experts' forecasts with weights that fall with what each has lost. An expert without a
forecast sleeps: the weights are those of the experts awake, renormalised; a sleeper suffers the blend's own loss, so
that its weight relative to the blend stays; and the regret against it is counted over the rounds in which it was awake.
For that regret every bound holds as it stands. The gradient method competes with every fixed mean of the experts, in
which a sleeper says what the blend says.
"""

from noregret.task.blend.making import blend
from noregret.task.blend.result import Blend

__all__ = ["Blend", "blend"]
