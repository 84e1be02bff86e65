"""TCM-NN: conformal prediction by nearest neighbours (Proedrou et al. 2002)."""

from confml.methods.tcm_nn.online import OnlineTCMNN
from confml.methods.tcm_nn.tcm_nn import TCMNN

__all__ = ["TCMNN", "OnlineTCMNN"]
