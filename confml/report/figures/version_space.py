"""Version space of lines in a plane, and the labellings of a working set: Bayesian transduction, figure 1.

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12. Examples are points on the left and great
circles on the right, lines on the left are points on the right. Both figures fit the first split again.
"""

import math
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from confml.report.figures.figure import DatasetResults, Figure, NotApplicable, of_views
from confml.report.figures.refit import first_fit
from confml.report.figures.style import BLUE, COLUMN, PAGE, VERMILION, add_legend, new_figure
from confml.report.numbers.outcomes import first_split

if TYPE_CHECKING:  # every run lists the figures, and these modules take long to import
    from confml.methods.version_space.bayes_transduction import BayesTransduction
    from confml.methods.version_space.joint_labelling import JointLabelling

# Test examples of the two figures, and most labellings of the second.
WORKING, LABELLED, LABELLINGS = 3, 5, 12
_DRAWS = 40_000  # of perceptrons, to find the middles of cells
_LINES = 7  # of version space, to show on the left
_TEXT = {
    "va": "center",
    "zorder": 6,
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.85},
}


class Toy(NamedTuple):
    """A fit and its working set.

    names: of the attributes. X (n, d), targets (n,) -1. or 1.: training examples after the steps; W (m, d):
    the working set. positive (m,): P of the second class; joint: all labellings.
    """

    method: "BayesTransduction"
    names: tuple[str, ...]
    X: np.ndarray
    targets: np.ndarray
    W: np.ndarray
    positive: np.ndarray
    joint: "JointLabelling"


def toy_of(data: DatasetResults, points: int) -> Toy:
    """Return the first variant of Bayesian transduction, fitted to the first split."""
    from confml._seeds import derived_generator

    views = [view for view in data.views.values() if view.method == "bayes-transduction"]
    if not views:
        raise NotApplicable("it needs bayes-transduction")
    with first_fit(data, views[0]) as (loaded, parts, point, rng):
        if len(loaded.classes) != 2:
            raise NotApplicable(f"it has {len(loaded.classes)} classes, not 2")
        method, W = parts.method(point), parts.X_test[:points]
        if not len(W):
            raise NotApplicable("the first split has no test example")
        method.seed_random_states(derived_generator(rng, point))
        method.fit(parts.X, parts.y)
        targets = np.where(parts.y == method.classes_[1], 1.0, -1.0)
        positive, joint = method.predict_proba(W)[:, 1], method.joint_labelling(W)
        return Toy(method, tuple(loaded.attributes), parts.X, targets, W, positive, joint)


# ---- version space in the plane


class Sphere:
    """Perceptrons (w1, w2, b) of length 1, drawn around the Bayes point so that areas are volumes.

    walls (n, 3): training examples (x1, x2, offset), their sign on the side of their class; working (m, 3).
    centre, svm (3,): the Bayes point and the support vector machine. axes (2, 3): of the drawing.
    """

    def __init__(self, toy: Toy):
        method = toy.method
        linear = method.kernel == "linear" or (method.kernel == "poly" and method.degree == 1)
        self.offset = 0.0 if method.kernel == "linear" else math.sqrt(method.coef0)
        if toy.X.shape[1] != 2 or not linear or self.offset == 0.0 or method.ridge:
            raise NotApplicable(
                "it shows lines in a plane: two features, kernel: poly, degree: 1, coef0 above 0, ridge: 0"
            )
        (trajectory,) = method.trajectories_
        if not trajectory.chains or trajectory.rank != 3:
            raise NotApplicable("the training examples lie on a line")
        self.walls = toy.targets[:, None] * np.column_stack([toy.X, np.full(len(toy.X), self.offset)])
        self.working = np.column_stack([toy.W, np.full(len(toy.W), self.offset)])
        # From coordinates of the kernel's range to (w1, w2, b): both give the same products with all walls.
        back = np.linalg.lstsq(trajectory.walls, self.walls, rcond=None)[0]
        self.centre, self.svm = trajectory.centre() @ back, trajectory.start @ back
        self.axes = _orthogonal(self.centre)

    def project(self, w: np.ndarray) -> np.ndarray:
        """Return (n, 2) Lambert's azimuthal equal-area projection of w (n, 3)."""
        scale = np.sqrt(2.0 / np.maximum(1.0 + w @ self.centre, 1e-9))
        return scale[:, None] * (w @ self.axes.T)

    def outline(self) -> np.ndarray:
        """Return (720, 3) the border of version space, where the arcs from the centre end."""
        ways = _circle(720) @ self.axes
        cot = (-(ways @ self.walls.T) / (self.walls @ self.centre)).max(axis=1)
        arcs = np.arctan2(1.0, cot)[:, None]
        return np.cos(arcs) * self.centre + np.sin(arcs) * ways

    def circle(self, example: np.ndarray) -> np.ndarray:
        """Return (721, 2) the projected perceptrons that have an example (3,) on their line.

        They are a great circle, which is split where it is opposite of the centre.
        """
        circle = _circle(721) @ _orthogonal(example)
        return self.project(np.where((circle @ self.centre > -0.5)[:, None], circle, np.nan))

    def inside(self) -> np.ndarray:
        """Return (k, 3) perceptrons drawn uniformly from version space."""
        rng = np.random.default_rng(0)
        # Uniform on the cap around version space: heights on a sphere are uniform.
        reach = (self.outline() @ self.centre).min()
        height = reach + (1 - reach) * rng.random(_DRAWS)[:, None]
        across = rng.normal(size=(_DRAWS, 2))
        across = across / np.linalg.norm(across, axis=1, keepdims=True) @ self.axes
        w = height * self.centre + np.sqrt(1 - height**2) * across
        return w[(w @ self.walls.T > 0).all(axis=1)]

    def free(self, cell: np.ndarray) -> np.ndarray:
        """Return (1, 3) a perceptron of a cell (k, 3), far from its borders, the Bayes point and the SVM."""
        borders = np.vstack([self.walls, self.working])
        sines = np.abs(cell @ (borders / np.linalg.norm(borders, axis=1, keepdims=True)).T)
        markers = 1 - cell @ np.stack([self.centre, self.svm]).T
        distance = np.minimum(sines.min(axis=1), 0.6 * np.sqrt(2 * np.maximum(markers, 0).min(axis=1)))
        return cell[[np.argmax(distance)]]


def _circle(points: int) -> np.ndarray:
    """Return (points, 2) points of the unit circle."""
    angles = np.linspace(0, 2 * math.pi, points)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _orthogonal(w: np.ndarray) -> np.ndarray:
    """Return (2, 3) two orthogonal vectors of length 1 that are orthogonal to w (3,)."""
    first = np.cross(w, np.eye(3)[np.argmin(np.abs(w))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(w, first) / np.linalg.norm(w)])


def draw_version_space(data: DatasetResults):
    """Version space of lines in a plane. Left: training examples, lines of version space, and test
    examples A, B, ... with the probability of the second class. Right: version space (grey) in an
    equal-area projection around the Bayes point; each training example is a great circle in the colour of its
    class, each test example a dashed one, and each cell has the labels of the test examples (+ for the
    second class) and their joint probability. First split.
    """
    toy = toy_of(data, WORKING)
    sphere = Sphere(toy)
    figure = new_figure(PAGE, 3.3)
    left, right = figure.subplots(1, 2)
    steps = " + ".join(step.name for step in data.run.config.steps)
    left.set_title(f"{data.name}: data" + (f" after {steps}" if steps else ""))
    handles = _draw_data(left, toy, sphere)
    _draw_sphere(right, toy, sphere)
    add_legend(figure, handles)
    return figure


def _draw_data(axes, toy: Toy, sphere: Sphere) -> dict[str, Any]:
    """Draw training and working examples, and lines of version space; return handles by label."""
    both = np.vstack([toy.X, toy.W])
    low, high = both.min(axis=0), both.max(axis=0)
    low, high = low - 0.25 * (high - low), high + 0.25 * (high - low)
    handles = {}
    inside = sphere.inside()
    lines = [(w, "perceptrons of version space", "0.6", "-") for w in inside[:: len(inside) // _LINES + 1]]
    lines += [
        (sphere.svm, "support vector machine", "black", ":"),
        (sphere.centre, "Bayes point", "black", "-"),
    ]
    for w, name, colour, dashes in lines:
        normal, shift = w[:2], w[2] * sphere.offset  # of the line w1 x1 + w2 x2 + b offset = 0
        foot, way = -shift * normal / (normal @ normal), np.array([-normal[1], normal[0]])
        line = axes.axline(foot, foot + way, color=colour, linestyle=dashes, linewidth=0.8)
        handles[name] = line
    for sign, colour, marker in ((-1.0, BLUE, "o"), (1.0, VERMILION, "s")):
        examples = toy.X[toy.targets == sign]
        name = f"class {toy.method.classes_[int(sign > 0)]}"
        handles[name] = axes.scatter(*examples.T, s=16, color=colour, marker=marker, linewidths=0, zorder=3)
    for name, x, p in zip(ascii_uppercase, toy.W, toy.positive, strict=False):
        axes.plot(*x, marker="x", color="black", markersize=4, zorder=4)
        axes.annotate(f"{name}: {p:.2f}", x, (5, 4), textcoords="offset points", fontsize=7, **_TEXT)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=toy.names[0], ylabel=toy.names[1])
    axes.set_title(f"right of A, B, ...: P({toy.method.classes_[1]})", loc="right", fontsize=6, color="0.4")
    return handles


def _draw_sphere(axes, toy: Toy, sphere: Sphere) -> None:
    """Draw version space, cut by the working examples."""
    outline = sphere.project(sphere.outline())
    axes.fill(*outline.T, color="0.92", zorder=0)
    reach = 1.25 * np.abs(outline).max(axis=0)
    for wall, sign in zip(sphere.walls, toy.targets, strict=True):
        axes.plot(*sphere.circle(wall).T, color=VERMILION if sign > 0 else BLUE, linewidth=0.7)
    for name, example in zip(ascii_uppercase, sphere.working, strict=False):
        circle = sphere.circle(example)
        axes.plot(*circle.T, "--", color="black", linewidth=1.0)
        seen = circle[(np.abs(circle) < 0.93 * reach).all(axis=1)]
        if len(seen):
            far = seen[np.argmax((seen**2).sum(axis=1))]
            axes.text(*far, name, fontsize=7, fontweight="bold", ha="center", **_TEXT)
    inside = sphere.inside()
    signs = inside @ sphere.working.T > 0
    for labels, probability in zip(toy.joint.positive, toy.joint.probabilities, strict=True):
        cell = inside[(signs == labels).all(axis=1)]
        if len(cell) > 0.005 * len(inside):
            text = "".join("+" if label else "\u2212" for label in labels) + f"\n{probability:.2f}"
            axes.text(*sphere.project(sphere.free(cell))[0], text, fontsize=6, ha="center", **_TEXT)
    for point, marker in ((sphere.centre, "*"), (sphere.svm, "D")):
        axes.plot(
            *sphere.project(point[None])[0], marker, color="black", markersize=5, markerfacecolor="white"
        )
    axes.set(xlim=(-reach[0], reach[0]), ylim=(-reach[1], reach[1]), aspect="equal", xticks=[], yticks=[])
    axes.set_title("version space (areas are volumes)")
    names = ", ".join(ascii_uppercase[: len(toy.W)])
    axes.set_xlabel(
        f"in each cell: labels of {names} (+ {toy.method.classes_[1]}) and their probability\n"
        "\u2606 Bayes point, \u25c7 support vector machine"
    )


VERSION_SPACE = Figure(draw_version_space, refits=True, collects=of_views(first_split))


# ---- labellings of a working set


def draw_labellings(data: DatasetResults):
    """Posterior probabilities of the most probable labellings of the first test examples together. The joint
    prediction is the most probable labelling; the labelwise one has the most probable label of each example.
    First split.
    """
    toy = toy_of(data, LABELLED)
    joint = toy.joint
    labelwise = joint.labelwise == toy.method.classes_[1]
    bars = list(zip(joint.positive, joint.probabilities, strict=True))[:LABELLINGS]
    if not any((labels == labelwise).all() for labels, _ in bars):
        bars.append((labelwise, joint.probability(joint.labelwise)))  # it is always shown
    figure = new_figure(COLUMN * 1.3, 1.0 + 0.17 * len(bars))
    axes = figure.add_subplot()
    handles = {}
    for number, (labels, p) in enumerate(bars):
        kinds = ["joint"] * (number == 0) + ["labelwise"] * bool((labels == labelwise).all())
        colour, name = (VERMILION, "joint or labelwise prediction") if kinds else (BLUE, "other labelling")
        handles[name] = axes.barh(number, p, color=colour, height=0.7)
        axes.bar_label(handles[name], [" ".join([f"{p:.3f}", " and ".join(kinds)])], padding=3, fontsize=7)
    ticks = [" ".join(str(toy.method.classes_[int(label)]) for label in labels) for labels, _ in bars]
    axes.set_yticks(range(len(bars)), ticks)
    axes.invert_yaxis()
    axes.set_xlim(0, min(1.6 * max(p for _, p in bars), 1.3))
    axes.set_xlabel(
        f"probability of the labels of {len(toy.W)} test examples together\nP(any wrong): joint "
        f"{joint.joint_risk(joint.joint):.3f}, labelwise {joint.joint_risk(joint.labelwise):.3f}\nexpected "
        f"share wrong: joint {joint.labelwise_risk(joint.joint):.3f}, labelwise "
        f"{joint.labelwise_risk(joint.labelwise):.3f}",
        fontsize=6.5,
    )
    axes.set_title(data.name)
    add_legend(figure, handles)
    return figure


JOINT_LABELLING = Figure(draw_labellings, refits=True, collects=of_views(first_split))
