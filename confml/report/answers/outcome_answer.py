"""`OutcomeAnswer`: the answer of all tasks of a table of outcomes, with the ranks of the models."""

import math
from collections.abc import Collection, Sequence
from typing import Any

from confml.errors import ConfmlError
from confml.measures.ranks import signed_rank
from confml.report.answers.datasets import Ranking, rank
from confml.report.answers.outcomes import TaskComparison
from confml.report.answers.text import best_on, listed


class OutcomeAnswer:
    """The answer of all tasks: ``sentences`` first, then ``notes``.

    tables: the rows of the tables by name: models and pairs of all tasks; of several tasks the ranks of the
    models, the best first, and, unless they are scores with units of their own, signed_ranks. rope: mean
    differences that are equivalent in the signed-rank test. failed: pairs of task and model that have the
    last rank.
    """

    def __init__(
        self,
        tasks: Sequence[TaskComparison],
        notes: Sequence[str],
        rope: float = 0.01,
        failed: Collection[tuple[str, str]] = (),
    ):
        self.tasks = list(tasks)
        models = [row for task in tasks for row in task.models_table()]
        self.tables = {"models": models, "pairs": [row for task in tasks for row in task.pairs_table()]}
        if len(tasks) == 1:
            self.sentences, self.notes = tasks[0].sentences, [*tasks[0].notes, *notes]
            return
        of_note: dict[str, list[str]] = {}
        for task in tasks:
            for note in task.notes:
                of_note.setdefault(note, []).append(task.name)
        self.notes = [f"{listed(names)}: {note}" for note, names in of_note.items()] + list(notes)
        ranked = {(task.name, model) for task in tasks for model in task.ranked}
        means = {key: row["mean"] for row in models if (key := (row["task"], row["model"])) in ranked}
        names = [task.name for task in tasks], list(dict.fromkeys(model for _, model in means))
        ranking = rank(means, names, tasks[0].sign < 0, "", failed, ("task", "model"))
        self.sentences = [self._wins()]
        if ranking is not None:
            ranks = self.tables["ranks"] = self._ranks(ranking)
            if all(task.binary for task in tasks):
                self.tables["signed_ranks"] = _signed_rank(ranking, 1 if tasks[0].sign < 0 else -1, rope)
            order = listed([f"{row['model']} {row['mean_rank']:.2f}" for row in ranks], 6)
            text = f"Mean ranks over {len(ranking.datasets)} tasks: {order}. {ranking.sentence}"
            self.sentences.insert(0, text)
            self.notes += [ranking.missing] if ranking.missing else []
        else:
            self.notes.append("No ranks: no two models have outcomes on the same two tasks.")

    def against(self, name: str) -> list[str]:
        """Return a sentence for each task: which models differ from the one whose name begins with ``name``.

        Raises ConfmlError unless one model has this name, or this beginning of a name.
        """
        models = list(dict.fromkeys(model for task in self.tasks for model in task.models))
        fitting = [model for model in models if model == name] or [
            model for model in models if model.startswith(name)
        ]
        if len(fitting) != 1:
            message = f"against: expected the name of one model or its beginning, got {name!r}"
            raise ConfmlError(message, hint=f"the models are {listed(fitting or models)}")
        return [task.against(fitting[0]) for task in self.tasks if fitting[0] in task.models]

    def _ranks(self, ranking: Ranking) -> list[dict[str, Any]]:
        """Return the models over the tasks, with numbers of tasks.

        best, better, worse: on how many it has the best mean, is better than all others, and is worse than
        the best one.
        """
        rows = []
        for at in ranking.by_rank:
            name = ranking.labels[at]
            tasks = [task for task in self.tasks if name in task.models]
            row = {"model": name, "tasks": len(tasks), "mean_rank": float(ranking.comparison.mean_ranks[at])}
            row["best"] = sum(name in task.comparison.lowest for task in tasks)
            row["better"] = sum(task.best == name and not task.alike for task in tasks)
            rows.append(row | {"worse": sum(task.comparison.worse(name) for task in tasks)})
        return rows

    def _wins(self) -> str:
        """Return which model has the best mean on which tasks, and on how many it is clearly the best."""
        best = best_on(
            ((listed(task.comparison.lowest), task.name) for task in self.tasks), ("model", "tasks")
        )
        clear = sum(not task.alike for task in self.tasks)
        stated = sorted(n for task in self.tasks if math.isfinite(n := task.comparison.detectable))
        if not all(task.binary for task in self.tasks):  # scores of tasks have units of their own
            stated = []
        amounts = list(dict.fromkeys(map(self.tasks[0].amount, stated[:1] + stated[-1:])))
        power = " to ".join([*(amount.split()[0] for amount in amounts[:-1]), *amounts[-1:]])
        text = f"Best mean: {best}. On {clear} of {len(self.tasks)} tasks the best model is better than "
        text += "all others (5 % for each task)."
        grouped = any(task.table.clusters is not None for task in self.tasks)
        chance = "60 to 80 %" if grouped else "80 %"
        detected = f" Differences of {power}, depending on the task, would probably have been detected "
        detected += f"({chance} power)."
        return text + detected * bool(stated)


def _signed_rank(ranking: Ranking, sign: int, rope: float) -> list[dict[str, Any]]:
    """Return Bayesian signed-rank tests of the first model with each other one.

    Their posterior probabilities, that the first is better, both are equivalent, or the second is better, add
    up to 1. sign: 1 if higher means are better, or -1. rope: mean differences within it are equivalent.
    """
    best, *models = [ranking.labels[at] for at in ranking.by_rank]
    rows = []
    for second in models:
        test = signed_rank(sign * (ranking.scores[best] - ranking.scores[second]).to_numpy(), rope)
        row = {"first": best, "second": second, "tasks": test.cases, "rope": rope}
        row |= {"first_better": test.first_larger, "equivalent": test.equivalent}
        rows.append(row | {"second_better": test.second_larger})
    return rows
