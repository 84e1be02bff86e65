"""Version space of lines in a plane, and the labellings of a working set: Bayesian transduction, figure 1.

Graepel, Herbrich and Obermayer, "Bayesian transduction", NIPS 12. Examples are points on the left and great
circles on the right, lines on the left are points on the right. Both figures fit the first split again.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confml.plugins.parameters import Integer
from confml.report.figures import Figure, NotApplicable, Subject, numbers_of
from confml.report.figures.refit import data_at_hand, first_split
from confml.report.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    GREY,
    PAGE,
    VERMILION,
    legend_below,
    new_figure,
)  # fmt: skip
from confml.report.numbers.outcomes import first_split as details_of_first_split

if TYPE_CHECKING:  # every run lists the figures, and these modules take long to import
    from confml.methods.version_space import BayesTransduction
    from confml.methods.version_space.joint_labelling import JointLabelling

_FLIGHTS = 12  # of the ball, to show
_DRAWS = 40_000  # of perceptrons, to find the middles of cells
_LINES = 7  # of version space, to show on the left
_PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.85}  # behind text on lines
_NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Toy(NamedTuple):
    """A fit and its working set.

    classes: (2,). names: of the attributes. X (n, d), targets (n,) -1. or 1.: training examples after the
    steps; W (m, d): the working set. positive (m,): P of the second class; joint: all labellings.
    """

    method: "BayesTransduction"
    classes: np.ndarray
    names: tuple[str, ...]
    X: np.ndarray
    targets: np.ndarray
    W: np.ndarray
    positive: np.ndarray
    joint: "JointLabelling"


def toy_of(subject: Subject, points: int) -> Toy:
    """Return the first variant of Bayesian transduction, fitted to the first split."""
    from confml._seeds import derived_generator
    from confml.methods.version_space import BayesTransduction

    found = [variant for variant in subject.variants.values() if variant.method == "bayes-transduction"]
    if not found:
        raise NotApplicable("it needs bayes-transduction")
    with data_at_hand(subject) as (data, folder):
        if len(data.classes) != 2:
            raise NotApplicable(f"it has {len(data.classes)} classes, not 2")
        parts, point, rng = first_split(subject, found[0], data, folder)
        method = parts.method(point)
        assert isinstance(method, BayesTransduction)  # the variants found above
        method.seed_random_states(derived_generator(rng, point))
        method.fit(parts.X, parts.y)
        W = parts.X_test[:points]
        if not len(W):
            raise NotApplicable("the first split has no test example")
        targets = np.where(parts.y == method.classes_[1], 1.0, -1.0)
        positive = method.predict_proba(W)[:, 1]
        names = tuple(data.attributes)
        return Toy(method, method.classes_, names, parts.X, targets, W, positive, method.joint_labelling(W))


# ---- version space in the plane


class Sphere:
    """Perceptrons (w1, w2, b) of length 1, drawn around the Bayes point so that areas are volumes.

    walls (n, 3): training examples (x1, x2, offset), their sign on the side of their class; working (m, 3).
    """

    def __init__(self, toy: Toy):
        method = toy.method
        linear = method.kernel == "linear" or (method.kernel == "poly" and method.degree == 1)
        offset = 0.0 if method.kernel == "linear" else math.sqrt(method.coef0)
        if toy.X.shape[1] != 2 or not linear or offset == 0.0 or method.ridge:
            raise NotApplicable(
                "it shows lines in a plane: two features, kernel: poly, degree: 1, coef0 above 0, ridge: 0"
            )
        (trajectory,) = method.trajectories_
        if not trajectory.chains or trajectory.rank != 3:
            raise NotApplicable("the training examples lie on a line")
        examples = np.column_stack([toy.X, np.full(len(toy.X), offset)])
        self.walls = toy.targets[:, None] * examples
        self.offset = offset
        self.working = np.column_stack([toy.W, np.full(len(toy.W), offset)])
        # From coordinates of the kernel's range to (w1, w2, b): both give the same products with all walls.
        back = np.linalg.lstsq(trajectory.walls, self.walls, rcond=None)[0]
        self.centre = trajectory.centre() @ back
        self.svm = trajectory.start @ back
        self.way = self._way(trajectory.chains[0], back)
        axis = np.eye(3)[np.argmin(np.abs(self.centre))]
        first = np.cross(self.centre, axis)
        self.axes = np.stack(
            [first / np.linalg.norm(first), np.cross(self.centre, first / np.linalg.norm(first))]
        )

    def _way(self, chain, back: np.ndarray) -> list[np.ndarray]:
        """Return (20, 3) perceptrons along each of the first arcs."""
        w, v = chain.anchors[0] @ back
        arcs = []
        for step in range(min(_FLIGHTS, len(chain.steps))):
            for anchor in np.flatnonzero(chain.anchor_step == step):
                w, v = chain.anchors[anchor] @ back
            alpha, beta, arc, push = chain.steps[step, :4]
            angles = np.linspace(0.0, arc, 20)[:, None]
            arcs.append(np.cos(angles) * w + np.sin(angles) * v)
            w, v = alpha * w + beta * v, alpha * v - beta * w
            v = v - push * self.walls[max(chain.hit[step], 0)]
        return arcs

    def place(self, w: np.ndarray) -> np.ndarray:
        """Return (n, 2) Lambert's azimuthal equal-area projection of w (n, 3)."""
        scale = np.sqrt(2.0 / np.maximum(1.0 + w @ self.centre, 1e-9))
        return scale[:, None] * (w @ self.axes.T)

    def outline(self, places: int = 720) -> np.ndarray:
        """Return (places, 3) the border of version space, where the arcs from the centre end."""
        angles = np.linspace(0, 2 * math.pi, places)
        ways = np.column_stack([np.cos(angles), np.sin(angles)]) @ self.axes
        cot = (-(ways @ self.walls.T) / (self.walls @ self.centre)).max(axis=1)
        arcs = np.arctan2(1.0, cot)[:, None]
        return np.cos(arcs) * self.centre + np.sin(arcs) * ways

    def circle(self, example: np.ndarray, places: int = 721) -> np.ndarray:
        """Return (places, 3) the perceptrons that have an example (3,) on their line."""
        first = np.cross(example, [1.0, 0.0, 0.0] if abs(example[0]) < abs(example[1]) else [0.0, 1.0, 0.0])
        first /= np.linalg.norm(first)
        second = np.cross(example, first) / np.linalg.norm(example)
        angles = np.linspace(0, 2 * math.pi, places)[:, None]
        return np.cos(angles) * first + np.sin(angles) * second

    def inside(self) -> np.ndarray:
        """Return (k, 3) perceptrons drawn uniformly from version space."""
        w = np.random.default_rng(0).normal(size=(_DRAWS, 3))
        reach = (self.outline() @ self.centre).min()
        # Uniform on the cap around version space: heights on a sphere are uniform.
        height = reach + (1 - reach) * np.random.default_rng(1).random(_DRAWS)
        across = w[:, :2] / np.linalg.norm(w[:, :2], axis=1, keepdims=True) @ self.axes
        w = height[:, None] * self.centre + np.sqrt(1 - height**2)[:, None] * across
        return w[(w @ self.walls.T > 0).all(axis=1)]

    def free(self, cell: np.ndarray) -> np.ndarray:
        """Return (1, 3) a perceptron of a cell (k, 3), far from its borders, the Bayes point and the SVM."""
        borders = np.vstack([self.walls, self.working])
        sines = np.abs(cell @ (borders / np.linalg.norm(borders, axis=1, keepdims=True)).T)
        markers = 1 - cell @ np.stack([self.centre, self.svm]).T
        distance = np.minimum(sines.min(axis=1), 0.6 * np.sqrt(2 * np.maximum(markers, 0).min(axis=1)))
        return cell[[np.argmax(distance)]]


def draw_version_space(subject: Subject):
    toy = toy_of(subject, int(subject.option("points", 3)))
    sphere = Sphere(toy)
    figure = new_figure(PAGE, 3.3)
    left, right = figure.subplots(1, 2)
    handles = _draw_data(left, toy, sphere)
    steps = " + ".join(step.name for step in subject.results.config.steps)
    left.set_title(f"{subject.dataset}: data" + (f" after {steps}" if steps else ""), loc="left")
    handles |= _draw_sphere(right, toy, sphere)
    legend_below(figure, list(handles.values()), list(handles))
    return figure


def _draw_data(axes, toy: Toy, sphere: Sphere) -> dict:
    """Draw training and working examples, and lines of version space; return handles by label."""
    both = np.vstack([toy.X, toy.W])
    low, high = both.min(axis=0), both.max(axis=0)
    low, high = low - 0.25 * (high - low), high + 0.25 * (high - low)
    handles = {}
    inside = sphere.inside()
    lines = [(w, "perceptrons of version space", GREY, "-") for w in inside[:: len(inside) // _LINES + 1]]
    lines += [(sphere.svm, "support vector machine", BLACK, ":"), (sphere.centre, "Bayes point", BLACK, "-")]
    for w, name, colour, dashes in lines:
        (handles[name],) = axes.plot(
            *_line(w, sphere, low, high), color=colour, linestyle=dashes, linewidth=0.8
        )
    for sign, colour, marker in ((-1.0, BLUE, "o"), (1.0, VERMILION, "s")):
        own = toy.X[toy.targets == sign]
        name = f"class {toy.classes[int(sign > 0)]}"
        handles[name] = axes.scatter(*own.T, s=16, color=colour, marker=marker, linewidths=0, zorder=3)
    for name, x, p in zip(_NAMES, toy.W, toy.positive, strict=False):
        axes.plot(*x, marker="x", color=BLACK, markersize=4, zorder=4)
        axes.annotate(f"{name}: {p:.2f}", x, xytext=(5, 4), textcoords="offset points", fontsize=7, zorder=4,
                      bbox=_PAPER)  # fmt: skip
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_xlabel(toy.names[0])
    axes.set_ylabel(toy.names[1])
    axes.set_title(f"right of A, B, ...: P({toy.classes[1]})", loc="right", fontsize=6, color="0.4")
    return handles


def _line(w: np.ndarray, sphere: Sphere, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return (2, 2) x and y of two points on the line w1 x1 + w2 x2 + b offset = 0, outside the axes."""
    normal, level = w[:2], w[2] * sphere.offset
    foot = -level * normal / (normal @ normal)
    along = np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
    reach = 2 * np.linalg.norm(high - low) + np.linalg.norm(foot)
    return np.stack([foot - reach * along, foot + reach * along]).T


def _draw_sphere(axes, toy: Toy, sphere: Sphere) -> dict:
    """Draw version space, cut by the working examples; return handles by label."""
    outline = sphere.place(sphere.outline())
    handles = {}
    axes.fill(*outline.T, color="0.92", zorder=0)
    reach = 1.25 * np.abs(outline).max(axis=0)
    for wall, sign in zip(sphere.walls, toy.targets, strict=True):
        colour = VERMILION if sign > 0 else BLUE
        _draw_circle(axes, sphere, wall, color=colour, linewidth=0.7)
    cutting = []
    for name, example in zip(_NAMES, sphere.working, strict=False):
        _draw_circle(axes, sphere, example, color=BLACK, linewidth=1.0, linestyle="--")
        border = sphere.place(sphere.circle(example))
        seen = border[(np.abs(border) < 0.93 * reach).all(axis=1)]
        if len(seen):
            cutting.append(name)
            far = seen[np.argmax((seen**2).sum(axis=1))]
            axes.annotate(name, far, fontsize=7, fontweight="bold", ha="center", va="center", zorder=5,
                          bbox=_PAPER)  # fmt: skip
    for trajectory in sphere.way:
        (handles["first arcs of the trajectory"],) = axes.plot(
            *sphere.place(trajectory).T, color="#009E73", linewidth=0.6
        )
    inside = sphere.inside()
    signs = inside @ sphere.working.T > 0
    for place, bits in enumerate(toy.joint.positive):
        own = inside[(signs == bits).all(axis=1)]
        if len(own) > 0.005 * len(inside):
            text = "".join("+" if bit else "\u2212" for bit in bits)
            axes.annotate(f"{text}\n{toy.joint.probabilities[place]:.2f}", sphere.place(sphere.free(own))[0],
                          fontsize=6, ha="center", va="center", zorder=6, bbox=_PAPER)  # fmt: skip
    for point, marker in ((sphere.centre, "*"), (sphere.svm, "D")):
        axes.plot(*sphere.place(point[None])[0], marker=marker, color=BLACK, markersize=5, zorder=4,
                  markerfacecolor="white", linestyle="")  # fmt: skip
    axes.set_xlim(-reach[0], reach[0])
    axes.set_ylim(-reach[1], reach[1])
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title("version space (areas are volumes)", loc="left")
    names = _NAMES[: len(toy.W)]
    outside = [name for name in names if name not in cutting]
    words = f"dashed: {', '.join(cutting)}" if cutting else "no dashed line"
    words += f" ({', '.join(outside)} outside)" if outside else ""
    axes.set_xlabel(
        f"{words}; in each cell:\nlabels of {', '.join(names)} (+ {toy.classes[1]}) and their probability\n"
        "\u2606 Bayes point, \u25c7 support vector machine",
        fontsize=6.5,
    )
    return handles


def _draw_circle(axes, sphere: Sphere, example: np.ndarray, **style) -> None:
    """Draw a great circle, without the part that the projection splits (opposite of the centre)."""
    circle = sphere.circle(example)
    circle = np.where((circle @ sphere.centre > -0.5)[:, None], circle, np.nan)
    axes.plot(*sphere.place(circle).T, **style)


# ---- labellings of a working set


def draw_labellings(subject: Subject):
    toy = toy_of(subject, int(subject.option("points", 5)))
    joint, shown = toy.joint, min(int(subject.option("labellings", 12)), len(toy.joint.probabilities))
    labelwise = joint.labelwise == toy.classes[1]
    places = list(range(shown))
    met = np.flatnonzero((joint.positive == labelwise).all(axis=1))
    probabilities = joint.probabilities[:shown].tolist()
    bits = [joint.positive[place] for place in places]
    if not len(met) or met[0] >= shown:  # the labelwise one always stands there, at the end if need be
        bits.append(labelwise)
        probabilities.append(joint.probability(joint.labelwise))
    handles: dict = {}
    figure = new_figure(COLUMN * 1.3, 1.0 + 0.17 * len(bits))
    axes = figure.add_subplot()
    for place, (one, p) in enumerate(zip(bits, probabilities, strict=True)):
        told = [
            word
            for word, is_it in (("joint", place == 0), ("labelwise", bool((one == labelwise).all())))
            if is_it
        ]
        (bar,) = axes.barh(place, p, color=VERMILION if told else BLUE, height=0.7)
        handles.setdefault("joint or labelwise prediction" if told else "other labelling", bar)
        words = f"{p:.3f} {' and '.join(told)}".rstrip()
        axes.annotate(words, (p, place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7)
    axes.set_yticks(range(len(bits)), [" ".join(str(toy.classes[int(bit)]) for bit in one) for one in bits])
    axes.invert_yaxis()
    axes.set_xlim(0, min(1.6 * max(probabilities), 1.3))
    axes.set_xlabel(
        f"probability of the labels of {len(toy.W)} test examples together\nP(any wrong): joint "
        f"{joint.joint_risk(joint.joint):.3f}, labelwise {joint.joint_risk(joint.labelwise):.3f}\nexpected "
        f"share wrong: joint {joint.labelwise_risk(joint.joint):.3f}, labelwise "
        f"{joint.labelwise_risk(joint.labelwise):.3f}",
        fontsize=6.5,
    )
    axes.set_title(subject.dataset, loc="left")
    legend_below(figure, list(handles.values()), list(handles))
    return figure


VERSION_SPACE = Figure(
    name="version-space",
    about="version space of lines in a plane, divided by the examples of the first split; fits "
    "the method again",
    draw=draw_version_space,
    caption="Left: training examples, lines of version space, and test examples A, B, ... with the "
    "probability "
    "of the second class. Right: version space (grey) in an equal-area projection around the Bayes "
    "point; each "
    "training example is a great circle in the colour of its class, each test example a dashed one, and each "
    "cell has the labels of the test examples (+ for the second class) and their joint probability. "
    "First split.",
    refits=True,
    collects=numbers_of(details_of_first_split),
    options={
        "points": Integer("number of test examples that divide version space; default 3", low=1, high=6)
    },
)
LABELLINGS = Figure(
    name="joint-labelling",
    about="most probable joint labellings of the first test examples, and the labelwise one; fits "
    "the method again",
    draw=draw_labellings,
    caption="Posterior probabilities of the most probable labellings of the first test examples "
    "together. The "
    "joint prediction is the most probable labelling; the labelwise one has the most probable label of each "
    "example. First split.",
    refits=True,
    collects=numbers_of(details_of_first_split),
    options={
        "points": Integer("number of test examples that are labelled together; default 5", low=1, high=60),
        "labellings": Integer("largest number of labellings shown; default 12", low=1, high=40),
    },
)
