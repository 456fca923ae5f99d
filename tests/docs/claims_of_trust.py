"""What docs/explanation/trust.md claims, each claim with the tests that hold it, and what it only explains."""

from __future__ import annotations

_AUDIT = "tests/kopt_kb/workspace/audit"
_TUNING = "tests/kopt_kb/tuning"
_JUDGE = "tests/kopt_kb/launch/judge"
_RECORD = "tests/kopt_kb/launch/record"
_AGAIN = "tests/kopt_kb/launch/recompile"
_LAUNCHER = "tests/kopt_kb/launch/candidate"
_REPORTED = "tests/kopt_kb/tuning/test_reported.py"
_ENTRIES = "tests/kopt_kb/launch/project/test_entries.py"
_JUDGEMENT = "tests/kopt_kb/launch/kernel/test_judgement.py"

TRUST: dict[str, tuple[str, ...]] = {
    "an edited view is a finding of `kb audit`, not a new truth": (
        f"{_AUDIT}/test_rendered.py::test_an_edit_is_found_with_its_byte",
    ),
    "where it goes on from there the verdict is *consistent, anchored*": (f"{_AUDIT}/test_bundled.py::test_anchors",),
    "the verdict is *consistent, timed again here*, with the ratio of the recorded time to the one of now": (
        f"{_AUDIT}/test_replayed.py::test_times_that_hold_are_said_beside_the_verdict",
    ),
    "where it does not, or the result is wrong, that is a finding": (
        f"{_AUDIT}/test_replayed.py::test_times_that_do_not_hold_are_a_finding",
        f"{_AUDIT}/test_replayed.py::test_a_wrong_result_is_a_finding",
    ),
    "Without such a GPU the audit says why nothing was timed": (
        f"{_AUDIT}/test_replayed.py::test_another_gpu_and_none_are_said_and_no_finding",
    ),
    "`--require anchored`, `--require timed` and `--require bound` make anything less exit 1": (
        f"{_AUDIT}/test_replayed.py::test_exit_codes",
        f"{_AUDIT}/test_recompiled.py::test_records_that_do_not_say_how_they_were_compiled",
    ),
    "what the journal recorded of it does not count": (
        f"{_AUDIT}/test_floors.py::test_floors_that_the_journal_makes_up_do_not_count",
    ),
    "Times that exclude each other are findings": (
        f"{_AUDIT}/test_times.py::test_events_that_contradict_each_other",
        f"{_AUDIT}/test_times.py::test_answers_that_contradict_themselves",
    ),
    "an identity or driver version that no driver prints are findings": (
        f"{_AUDIT}/test_machines.py::test_a_machine_that_is_none",
    ),
    "a version accepted without a gate of its policy are findings": (
        f"{_AUDIT}/test_judged.py::test_records_and_decisions_without_ground",
    ),
    "that was changed or removed since it was captured is a finding": (
        f"{_AUDIT}/test_captured.py::test_a_test_that_was_changed_or_removed",
        f"{_AUDIT}/test_captured.py::test_a_plan_that_a_round_was_judged_with",
    ),
    "on any other row it is a note": (f"{_AUDIT}/test_bundled.py::test_another_row_of_this_machine_is_a_note",),
    "Targets that rest on another wiki than the packaged one name it": (
        "tests/kopt_kb/wiki/test_apart.py::test_a_copy_is_named_and_an_edited_page_in_it_too",
        f"{_AUDIT}/test_audit.py::test_a_fresh_workspace_is_clean",
    ),
    "The audit finds records that claim more than their runs gave": (
        f"{_AUDIT}/test_decisions.py::test_more_trust_than_there_is",
    ),
    "A gain is said with the level that it rests on": (
        "tests/kopt_kb/workspace/test_levels.py::test_the_lowest_level_counts",
    ),
    "*times reported by the project, results not compared* where its file has no command `outputs`": (
        "tests/kopt_kb/workspace/test_levels.py::test_a_project_reports",
    ),
    "The first lets a policy of the package decide only where the user said so": (
        f"{_REPORTED}::test_nothing_is_accepted_without_the_users_word",
    ),
    "Of the second the baseline shows that `outputs` calls what the benchmark calls": (
        f"{_ENTRIES}::test_a_function_that_is_only_timed_is_named",
    ),
    "Where all are the recorded ones the verdict adds *source bound again here*": (
        f"{_AUDIT}/test_recompiled.py::test_code_that_is_the_same_is_said_beside_the_verdict",
    ),
    "one that the journal calls bound and that is another one here is a finding": (
        f"{_AUDIT}/test_recompiled.py::test_code_that_is_another_is_a_finding_where_the_journal_claims_it",
    ),
    "Another version of the compiler makes another object": (
        f"{_AUDIT}/test_recompiled.py::test_what_this_machines_compiler_cannot_say_is_no_finding",
    ),
    "Records from before they said how they were compiled stay `unbound, not asked`": (
        f"{_AUDIT}/test_recompiled.py::test_records_that_do_not_say_how_they_were_compiled",
    ),
    "so is a .gitignore that is not what kb wrote": (f"{_AUDIT}/test_written.py::test_what_kb_wrote_is_named",),
    "The README's text outside of its blocks is a person's": (
        f"{_AUDIT}/test_written.py::test_a_persons_words_are_said_to_be_that",
    ),
    "the limit there is 2⁻¹⁴ in place of the tolerance": (
        f"{_JUDGEMENT}::test_where_results_are_exact_a_tolerance_is_no_budget",
    ),
    "It is not asked where the problem says that the tolerance is a budget": (
        f"{_JUDGEMENT}::test_a_problem_that_widens_its_tolerance_says_that_it_is_a_budget",
    ),
    "None of 16 honest ways is refused": ("tests/docs/test_claims.py::test_the_measured_ways_are_those_that_are_said",),
    "Each event holds the hash of the one before it": (
        "tests/kopt_kb/workspace/journal/test_chain.py::test_removed_moved_doubled_blank_and_respaced_lines_are_named",
    ),
    "the audit's verdict on a workspace in which everything agrees is *consistent, origin unproven*": (
        f"{_AUDIT}/test_judged.py::test_a_journal_with_times_that_could_be_is_consistent_and_no_more",
    ),
    "`kb audit --replay` has a judge of this machine time the best version's launch records again": (
        f"{_AUDIT}/test_replayed.py::test_times_that_hold_are_said_beside_the_verdict",
    ),
    "`kb audit --recompile` makes the code objects of the best version again": (
        f"{_AUDIT}/test_recompiled_here.py::test_the_recorded_source_alone_gives_the_recorded_code",
    ),
    "A record below the floor of its shape is a finding": (
        f"{_AUDIT}/test_floors.py::test_a_journal_with_a_tenth_of_its_times_is_below_its_floor",
    ),
    "the one who judges never imports the one who is judged": (
        "tests/docs/test_claims.py::test_a_judge_has_no_way_to_import_a_file",
    ),
    "runs the launcher on tensors without memory, and records what it asks the GPU to do": (
        f"{_JUDGE}/test_makers.py::test_a_real_launcher_is_recorded",
    ),
    "replays the record through the driver, on inputs it made itself, between guard zones": (
        f"{_RECORD}/test_replay.py::test_guard_zones",
        f"{_RECORD}/test_replay.py::test_inputs_may_not_change",
    ),
    "lets old and new take turns in secret order, and decides by a bound": (
        f"{_JUDGE}/test_sequential.py::test_orders_are_both_drawn",
        f"{_JUDGE}/test_sequential.py::test_bound_by_hand",
    ),
    "what could not be had stands in the log of each run": (
        "tests/kopt_kb/cli/machine/test_doctor.py::test_this_machine_is_asked_for_real",
        "tests/kopt_kb/sandbox/test_caged.py::test_what_held_is_on_record_before_it_starts",
    ),
    "Every time in a journal carries the level that its run gave it": (
        "tests/kopt_kb/tuning/test_replayed.py::test_each_time_says_how_far_it_can_be_trusted",
        "tests/kopt_kb/workspace/views/test_bench.py::test_the_level_of_trust_is_shown",
    ),
    "A policy names the least level a decision may rest on; below it a round ends as unverified": (
        f"{_TUNING}/test_decision.py::test_less_trust_than_a_policy_accepts_is_unverified",
    ),
    "What a decision compares was timed in one run, so on one level": (
        f"{_TUNING}/test_rounds.py::test_a_contest_decides_and_levels_are_kept",
    ),
    "on the problem's shapes and on new ones": (
        f"{_JUDGE}/test_launchers.py::test_a_gpu_confirms_on_seen_and_new_shapes",
        f"{_LAUNCHER}/test_launcher_check.py::test_its_process_shows_nothing_of_recording_and_its_results_are_compared",
    ),
    "Every version that is accepted is called so": (
        f"{_TUNING}/test_launcher_gate.py::test_an_accepted_version_says_that_its_launcher_was_seen",
        f"{_AUDIT}/test_launchers.py::test_every_accepted_version_is_listed",
    ),
    "The new shapes are drawn while the version's contest runs": (
        f"{_JUDGE}/test_executor_launchers.py::test_what_a_launcher_needs_is_made_ready_while_its_version_is_judged",
        f"{_JUDGE}/test_launchers.py::test_what_it_does_otherwise_on_a_new_shape_counts_where_its_record_is_right",
    ),
    "every result is held against the float64 reference within the problem's tolerance": (
        f"{_LAUNCHER}/test_launcher_check.py::test_a_defeat_device_is_a_problem",
    ),
    "its launches, by entry and number": (f"{_LAUNCHER}/test_launcher_check.py::test_its_launches_are_its_records",),
    "its time: between half of the record's shortest time and its longest plus 5 %": (
        f"{_LAUNCHER}/test_launcher_check.py::test_its_time_is_its_records_with_host_overhead",
    ),
    "The event `launcher_confirmed` holds contents, launches and times": (
        f"{_TUNING}/test_launcher_gate.py::test_an_accepted_version_says_that_its_launcher_was_seen",
        f"{_LAUNCHER}/test_launcher_run.py::test_reports_say_no_more_than_was_seen",
    ),
    "one that could not be confirmed leaves the round unverified": (
        f"{_TUNING}/test_launcher_gate.py::test_what_was_not_confirmed_is_not_accepted_as_confirmed",
        f"{_TUNING}/test_launcher_gate.py::test_a_policy_that_does_not_demand_it_runs_no_launcher",
    ),
    "a CUDA C++ file has no launcher but its header": (
        f"{_JUDGE}/test_launchers.py::test_a_header_is_the_launch_itself",
    ),
    "it imports torch, Triton and the kernel file and nothing of this package": (
        f"{_LAUNCHER}/test_launcher_check.py::test_its_process_shows_nothing_of_recording_and_its_results_are_compared",
    ),
    "It and its judge are started while the version is checked": (
        f"{_LAUNCHER}/test_launcher_program.py::test_it_is_started_before_there_is_a_kernel_file",
        f"{_LAUNCHER}/test_launcher_executor.py::test_the_process_that_waits_does_the_next_job_and_no_other",
    ),
    "the record's code objects are made a second time by a process that runs none of it": (
        f"{_AGAIN}/test_binding.py::test_a_record_of_something_else_is_unbound",
        f"{_AGAIN}/test_triton_source.py::test_an_honest_kernel_is_bound",
        f"{_AGAIN}/test_extract.py::test_only_what_the_kernel_needs_is_taken",
    ),
    "a short list of options, floating-point fusion among them; no option or variable that replaces code": (
        f"{_RECORD}/test_code_request.py::test_no_option_replaces_code",
        f"{_AGAIN}/test_worker.py::test_options_that_replace_code_and_unknown_languages_are_refused",
    ),
    "CUDA C++ is compiled again from its file": (
        f"{_AGAIN}/test_cuda_source.py::test_a_file_is_compiled_by_its_header",
    ),
    "What a driver may use of both objects is compared; lines and debug information may differ": (
        f"{_AGAIN}/test_loadable.py::test_only_debug_sections_may_differ",
        f"{_AGAIN}/test_loadable.py::test_whatever_is_loaded_is_compared",
    ),
    "the event `record_bound` says how each code object was made again": (
        f"{_JUDGE}/test_bound_sides.py::test_an_honest_candidate_is_bound_once",
    ),
    "The package's policy ends a round as unverified where replayed code is unbound": (
        f"{_JUDGE}/test_bound_sides.py::test_a_forged_record_is_named_unbound_and_not_accepted",
        f"{_JUDGE}/test_bound_sides.py::test_a_language_that_nothing_makes_again_is_excused_only_for_its_own_files",
    ),
    "Exit code 0 is for consistent": (f"{_AUDIT}/test_replayed.py::test_exit_codes",),
    "`--needs-bound yes` refuses those too, `no` accepts all": (
        f"{_JUDGE}/test_bound_sides.py::test_a_language_that_nothing_makes_again_is_excused_only_for_its_own_files",
    ),
    "nor any of the packaged kernels in Triton's interpreter": (
        "tests/kernels/test_kernels.py::test_every_kernel_is_right_in_the_interpreter",
    ),
    "A search makes nothing again": (f"{_JUDGE}/test_executor.py::test_a_search_finds_the_best_block",),
    "A test of the environment is answered as an empty one does": (
        f"{_AGAIN}/test_expressions.py::test_an_empty_environment_answers",
    ),
    "CuTe DSL, FlyDSL, Helion and TileLang build a kernel by running its Python": (
        "tests/docs/test_claims.py::test_languages_that_nothing_makes_again_are_those_that_are_named",
    ),
    "some inputs are such that a right kernel has nothing to round": (
        f"{_JUDGEMENT}::test_where_results_are_exact_a_tolerance_is_no_budget",
        f"{_RECORD}/test_inputs.py::test_one_element_of_each_sum_is_kept",
    ),
    "Nor of types of 8 bits and fewer, and tf32": (
        f"{_JUDGEMENT}::test_a_tolerance_stays_where_operands_are_rounded_on_the_way",
    ),
    "nor of operations outside the list": (f"{_JUDGEMENT}::test_any_operation_has_trials",),
    "Of 100 ways to spend a bf16 tolerance": (
        "tests/docs/test_claims.py::test_the_measured_ways_are_those_that_are_said",
    ),
    "all 100 showed before too": ("tests/docs/test_claims.py::test_the_measured_ways_are_those_that_are_said",),
}
"""Sentence, or the part of it that claims something → tests that hold it."""

EXPLAINS = (
    "Two questions decide whether",
    "[Where a number comes from]",
    "This page answers the second",
    "A campaign is an append-only log",
    "What a chain alone can't show",
    "Two things show more",
    "A journal that was written anew is held to",
    "A bundle brings its own pages",
    "A kernel file is code of somebody else",
    "It may return the reference's own result",
    "[Which attacks were tried]",
    "A record does not prove that",
    "It must give",
    "Not bit for bit",
    "Times that are not replayed have no record",
    "What a launcher can still see",
    "One that behaves wherever it sees a cage",
    "The process that makes a record runs",
    "`benchmarks/records_bound.py` counts",
    "HIP C++ would be compiled",
    "cuTile compiles a function's text",
    "That is a rule of the problem",
    "A kernel is right whose result",
    "A tolerance is there for rounding",
    "Spent on purpose it pays",
    "What stays unseen are",
    "Whether a GPU refuses one",
    "So the last gate that decides",
)
"""How sentences begin that give a reason, a limit or another page."""
