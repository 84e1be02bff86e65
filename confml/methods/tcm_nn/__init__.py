"""TCM-NN: conformal prediction by nearest neighbours (Proedrou et al. 2002)."""
