"""`threads` and `for_each`: every item once, errors, processor time."""

import sys
import threading
import time

import pytest

import confml
from confml._threads import for_each, thread_count
from confml.plugins.imports import without_output


@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_every_item_is_computed_once(n):
    computed, spaces = [], []

    def space():
        spaces.append(threading.current_thread())  # kept: the number of a thread that ended is used again
        return spaces[-1]

    def compute(item, buffer):
        assert buffer is threading.current_thread()
        computed.append(item)
        time.sleep(0.001)

    with confml.threads(n):
        for_each(compute, range(12), space)
    assert sorted(computed) == list(range(12))
    assert 1 <= len(spaces) <= min(n, 12)


@pytest.mark.parametrize("where", ["caller", "helper"])
def test_an_error_of_any_thread_ends_the_work(where):
    caller, done = threading.get_ident(), []
    met = threading.Barrier(2)

    def compute(item, _):
        if item < 2:
            met.wait(timeout=60)
            if (threading.get_ident() == caller) == (where == "caller"):
                raise ZeroDivisionError
        time.sleep(0.001)
        done.append(item)

    with confml.threads(2), pytest.raises(ZeroDivisionError):
        for_each(compute, range(10_000))
    assert len(done) < 10_000
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("confml-helper")]


def test_the_setting_ends_with_its_block_and_is_one_in_other_threads():
    counts = []
    with confml.threads(3):
        with confml.threads(2):
            assert thread_count() == 2
        thread = threading.Thread(target=lambda: counts.append(thread_count()))
        thread.start()
        thread.join()
        for_each(lambda item, _: counts.append(thread_count()), range(6))
        assert thread_count() == 3
    assert thread_count() == 1 and counts == [1] * 7


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_wrong_numbers(n):
    with pytest.raises(ValueError, match="integer of at least 1"), confml.threads(n):
        pass


def test_stdout_is_restored_after_blocks_of_threads_that_overlap(capsys):
    before, inside = sys.stdout, threading.Barrier(2)

    def helper():
        with without_output():
            inside.wait(10)
            inside.wait(10)

    thread = threading.Thread(target=helper)
    thread.start()
    inside.wait(10)
    with without_output():
        inside.wait(10)
        thread.join()
        print("discarded")
    assert sys.stdout is before and capsys.readouterr().out == ""
