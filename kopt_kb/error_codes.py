"""Every error code: one cause each, in words, with what to do about it."""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple, cast, get_args

__all__ = ["Cause", "Code", "cause_of", "causes"]

Code = Literal[
    "KB000", "KB010", "KB011", "KB012", "KB020", "KB021", "KB022", "KB023", "KB024", "KB025", "KB026", "KB027", "KB030",
    "KB031", "KB032", "KB033", "KB040", "KB041", "KB042", "KB043", "KB044", "KB045", "KB046", "KB047", "KB050",
    "KB051", "KB052", "KB053", "KB054", "KB055", "KB056", "KB057", "KB058", "KB059", "KB060", "KB061", "KB062",
    "KB063", "KB064", "KB065", "KB066", "KB068", "KB069", "KB070", "KB071", "KB072", "KB073", "KB074", "KB075",
    "KB076", "KB077", "KB078", "KB079", "KB080", "KB081", "KB082", "KB083", "KB084", "KB085", "KB086", "KB087",
    "KB089", "KB091", "KB092", "KB093", "KB094", "KB095", "KB096", "KB097", "KB098", "KB101", "KB102", "KB103",
    "KB104", "KB105", "KB106", "KB107", "KB108", "KB110", "KB111", "KB112", "KB113", "KB114", "KB115", "KB116",
    "KB117", "KB118", "KB119",
    "KB120", "KB121", "KB122", "KB123", "KB124", "KB125", "KB126", "KB130", "KB200", "KB201",
    "KB202", "KB203", "KB204", "KB205", "KB206", "KB207", "KB208", "KB210",
    "KB211", "KB212", "KB213", "KB220", "KB222", "KB301",
    "KB302", "KB303", "KB304", "KB306", "KB307", "KB308", "KB309", "KB310", "KB311", "KB312", "KB313",
    "KB314", "KB315", "KB316", "KB318", "KB319", "KB320", "KB321", "KB322", "KB323", "KB324", "KB325",
    "KB326", "KB327", "KB328", "KB400", "KB401", "KB402", "KB403", "KB405", "KB406", "KB407", "KB408",
    "KB410", "KB411", "KB412", "KB413", "KB414", "KB415", "KB416", "KB417", "KB420", "KB421", "KB422", "KB423",
    "KB424", "KB425", "KB426", "KB427", "KB428", "KB429", "KB430", "KB431", "KB432", "KB433", "KB434",
    "KB440", "KB442", "KB444", "KB445", "KB446", "KB447", "KB448", "KB449", "KB451", "KB452",
    "KB453", "KB454", "KB455", "KB456",
]  # fmt: skip
"""The closed list: mypy refuses any other word where an error is raised."""


class Cause(NamedTuple):
    """What one code stands for.

    Attributes:
        name: A short name, unique like the code.
        cause: Why the error is raised, in words.
        remedy: What a reader can do about it in general; the error's own text says it of the case.
    """

    name: str
    cause: str
    remedy: str


_TABLE = """
KB000 internal-error: kb met something it did not foresee: a bug of kb, not of the input
    Run it again with KOPT_TRACEBACK=1 and report what it prints.
KB010 bad-usage: the words of the command line are not the command's
    `kb COMMAND --help` shows what it takes.
KB011 unknown-unit: a unit that is not in the table of units
    Write a unit of docs/reference/metrics.md, such as TFLOPS or TB/s.
KB012 not-a-number: a text that has to be a plain decimal number is none
    Write digits and one point, without separators or exponents.
KB020 unknown-metric: a metric id that the vocabulary does not have
    Take one of docs/reference/metrics.md.
KB021 unknown-axis: a condition names an axis that the metric does not have
    The message lists the metric's axes.
KB022 unknown-axis-value: a condition's value is not in the vocabulary of its axis
    The message lists the values.
KB023 empty-search: a search without a word to look for
    Give a word of letters or digits.
KB024 wrong-unit: a unit that does not measure the metric it stands beside
    Write a unit of the metric's dimension.
KB025 nothing-to-compare: a comparison of fewer than two different products
    Name another product.
KB026 no-row-fits: no row of the products fits the conditions asked for
    Leave conditions out, or look at `kb lookup PLATFORM`.
KB027 bad-platform-id: a name that no page of the wiki can have
    Write capital letters, digits and _, such as H100_SXM.
KB030 wrong-dimension: two quantities whose dimensions do not fit the operation
    Convert or choose quantities of one dimension.
KB031 not-a-ceiling: a value that does not rest on wiki rows alone was to become a ceiling, floor, limit or target
    Make it a row of the wiki, with its source.
KB032 value-is-none: the part lacks what was asked for: its row says NONE
    Ask for another metric or product.
KB033 division-by-zero: a quantity was divided by zero
    Check the divisor.
KB040 bad-citation: a text that is not a citation of the wiki
    Write page.md:L12, as `kb lookup` prints it.
KB041 bad-ir: Triton IR that can't be read or evaluated; the message names the line
    Count it in shape mode, or give the IR as Triton's first passes leave it.
KB042 ir-arguments: the grid or arguments given do not fit the IR, or one that it needs is missing
    Give each parameter that the message names.
KB043 ir-too-large: an exact count would evaluate more memory lanes than allowed
    Count in shape mode.
KB044 no-such-kernel: the file or machine code holds no kernel of that name, or several where one was meant
    Name one of the kernels that it holds.
KB045 impossible-launch: resources, blocks or operations that no launch can have
    Give numbers of at least 1, and none below 0.
KB046 limit-not-whole: a row that has to be a whole number of a limit is none
    Mend the row that the message names.
KB047 no-roof: no roof of the products is known for this work
    Choose a dtype or engine that their pages have.
KB050 wiki-faults: pages of the wiki are at fault; each fault has a WK or PHY code of its own
    `kb wiki check` lists them all.
KB051 unknown-platform: no page has that name
    `kb list` prints every product.
KB052 ambiguous-platform: a name that several products share and none owns
    Name one of those that the message lists.
KB053 no-wiki: no wiki where one was expected
    Name a folder that holds hardware/, or leave --wiki and KOPT_GPU_WIKI out.
KB054 ambiguous-row: several rows fit the conditions; none is picked
    Add the conditions that tell them apart.
KB055 bad-key: a row's key or condition is not of the form metric[axis=value;axis=value]
    Write it in that form.
KB056 unknown-filter: a filter of the search has no such value
    Take one of those that the message lists.
KB057 bad-foreign-table: a foreign table can't be read as one
    Give a CSV or JSON table with metric, value and unit.
KB058 nothing-to-attain: work without operations, or without bytes, has no place under a roof
    Give both counts.
KB059 grade-refused: a roof rests on a weaker source than was asked for
    Lower --min-grade, or add a better source to the wiki.
KB060 unknown-op: an operation name that is neither an id nor an alias
    Take one of those that the message lists, or give --flops and --bytes.
KB061 unknown-dtype: a dtype that nobody here knows
    Take one of those that the message lists.
KB062 bad-compute-dtype: a compute type that the operands can't have
    tf32 computes on fp32 operands.
KB063 bad-shape: a shape with a bad dimension or the wrong number of dimensions
    Write whole numbers joined by x, such as 8192x4096.
KB064 bad-count: a count that is not a whole number of at least 0
    Give a whole number.
KB065 bad-option: an option that the operation does not have, or a value that it can't take
    The message lists what it takes.
KB066 scale-block: the contraction is no multiple of the elements that share a scale
    Choose a K that the block of the dtype divides.
KB068 bad-tolerance: a tolerance outside 0 to 1
    Give a relative error between 0 and 1.
KB069 dtype-refused: the operation is not defined for this dtype
    Give a dtype that it is defined for.
KB070 compile-failed: the compiler refused the kernel
    Read the compiler's message.
KB071 compile-time-limit: the compiler took longer than its limit
    Raise the limit, or make the kernel smaller.
KB072 compile-memory-limit: the compiler needed more memory than its limit
    Raise the limit, or make the kernel smaller.
KB073 compile-crash: the compiler's process ended by itself
    Try another version of the compiler, and report it there.
KB074 compile-shared-memory: the kernel needs more shared memory than a block of the target has
    Use smaller tiles or fewer stages.
KB075 bad-reference: the reference is not a finite float64 tensor
    Mend the reference: it has to be finite.
KB076 too-few-runs: too few runs to say anything about their spread
    Measure more often.
KB077 bad-declaration: a kernel file's declared data are missing or don't fit together
    docs/tuning.md shows what a kernel file declares.
KB078 bad-kernel-argument: a word that is no kernel argument
    Write dtype:AxB, dtype or a number; the command's help shows examples.
KB079 no-triton-kernel: the file holds no @triton.jit kernel
    Name a file that does.
KB080 no-static-cases: the kernel file has no static_cases, so that a shape says nothing about its launches
    Name a kernel and its arguments instead.
KB081 launch-mismatch: what a kernel is launched with does not fit its parameters
    Give a value for each parameter, and none that it lacks.
KB082 no-autotune-config: the kernel has no autotune configuration of that number
    Count from 0; the message says how many there are.
KB083 bad-code-object: a binary that is no code object that can be disassembled here
    Give a cubin or hsaco of a target that is known.
KB084 import-failed: the kernel file raises an error while it is imported or described
    Mend the file: the message is its own.
KB085 hidden-kernel: the kernel is not at the top level of a file, so that no child process can import it
    Move it into a module.
KB086 can't-count: operations or bytes of the kernel can't be counted
    Count in another mode, or give the missing argument.
KB087 no-grid: no launch grid is known for the kernel
    Give --grid X[,Y[,Z]].
KB089 wrong-probe: a kernel that measures a ceiling gave a wrong result
    Nothing was recorded; check the machine.
KB091 shape-twice: a shape is given twice
    Give each shape once.
KB092 mixed-bounds: the sum of a lower and an upper bound is neither
    Keep the two apart.
KB093 empty-sum: the sum of no work is undefined
    Give at least one piece of work.
KB094 level-not-counted: the work has no byte count for that level
    Ask for a level that was counted.
KB095 wrong-result-shape: the result does not have the reference's shape
    Return a result of the reference's shape.
KB096 unequal-runs: incumbent and candidate were not run equally often
    Run both equally often.
KB097 not-positive: a time, rate or ratio is not a positive finite number
    Measure again.
KB098 other-device: the run was made on another product than the page it was to be written to
    Name the product that was measured.
KB101 no-command: kb has no such command
    `kb --help` lists the commands.
KB102 missing-argument: something that the command needs is not given
    Give what the message names.
KB103 conflicting-arguments: two things are given that exclude or contradict each other
    Leave one of them out.
KB104 not-name-value: a word that has to be NAME=VALUE is not
    Write NAME=VALUE.
KB105 bad-option-number: an option's number is none, or outside its range
    The message says what fits.
KB106 unknown-choice: a word that is none of a closed list
    Take one of those that the message lists.
KB107 bad-command-line: a text that can't be split into a command and its words
    Close its quotes.
KB108 not-text: a word that has to be text holds bytes that are not UTF-8
    Write it in UTF-8.
KB110 no-such-file: there is no such file or folder
    Check the path.
KB111 file-unreadable: a file or folder can't be read
    Check its permissions, and that it is what the command takes: a file or a folder.
KB112 file-unwritable: a file or folder can't be written
    Check permissions and free space, or name another place.
KB113 file-exists: a file or folder exists already and is never overwritten
    Name another place.
KB114 file-too-large: a file is larger than what is read
    Give a smaller one.
KB115 not-utf8: a file is not UTF-8 text
    Save it as UTF-8.
KB116 wrong-document: a file's content is not of the kind that is needed
    Give the kind of file that the message names.
KB117 output-lost: the output can't be written to the end
    Check the terminal, pipe or file that stdout leads to.
KB118 bad-path: a path that the system can't hold
    Take NUL bytes out of it, and shorten it if it is very long.
KB119 out-of-memory: the process may not have more memory
    Raise the limit, or give less work at once.
KB120 package-missing: an optional package is not installed
    Install the extra that the message names.
KB121 program-missing: a program that the command starts is not installed
    Install it, or add its folder to PATH.
KB122 no-gpu: no GPU is visible, or none that can be used
    Run on a machine with a GPU.
KB123 no-counter-permission: the driver does not let this user read GPU counters
    Ask the administrator to allow it.
KB124 build-lacks: this build of Python or of a package lacks a part that is needed
    Use another build.
KB125 import-needs-gpu: a module asks for a GPU or a timing while it is only to be compiled
    Move that out of the module's import.
KB126 can't-start: a command can't be started
    Name a program that can be run here.
KB130 value-unknown: the wiki names the value and says that nobody publishes it
    Add a row with a source to a wiki, or ask for something else.
KB200 report-damaged: a profiler's report is damaged, truncated or contradicts itself
    Export it again.
KB201 unknown-profile-metric: a metric that kernel profiles do not have
    Take one of those that the message lists.
KB202 no-kernel-matches: the kernel pattern matches none of the report's kernels
    The message lists its kernels.
KB203 bad-kernel-pattern: the kernel pattern is no regular expression
    Escape its special characters.
KB204 report-foreign: no report that is read here, or another page of one
    `kb profile read --help` lists what is read.
KB205 report-empty: a report without a kernel in it
    Profile a command that launches a kernel.
KB206 report-timeout: a report was not read within the time limit
    Read a smaller report.
KB207 no-report-file: a pipe or device stands where a report is expected
    Give the report itself.
KB208 other-product: the report was recorded on another product than --platform says
    Leave --platform out, or name the product of the run.
KB210 bad-formula-page: a page of metric formulas breaks its grammar; the message names file and line
    Mend the line.
KB211 bad-threshold-page: a page of thresholds breaks its grammar; the message names file and line
    Mend the line.
KB212 bad-advice-page: a page of advice is missing or says nothing to do
    Write numbered steps on the page that the message names.
KB213 no-threshold: a rule reads a threshold that no page has
    Add the row, with its source, to counters/thresholds.md.
KB220 profiler-failed: the profiler ran and returned an error
    Read the profiler's message.
KB222 nothing-recorded: the profiler ran and recorded no kernel
    Check the command, the kernel pattern and the launches skipped.
KB301 bad-field: a field of a record is missing, surplus or of the wrong kind; the place is the field's path
    Write the field as the schema says.
KB302 journal-damaged: the journal can't be read, or its chain of hashes is broken
    Restore the file from git.
KB303 journal-busy: another process, or another part of this one, is writing this journal
    Wait until it ends.
KB304 object-damaged: a blob of the workspace is missing or damaged, or can't be stored
    Restore objects/ from git.
KB306 bad-block: the markers of a rendered block are wrong, or the block is missing
    Restore the markers, or remove the file and render it again.
KB307 bad-view: a rendered file can't be read or written
    Check the file, then run kb render.
KB308 bad-workspace: a folder is no workspace, or can't become one
    `kb init` makes a workspace in a new folder.
KB309 git-failed: git refused or failed
    Read git's message.
KB310 no-beginning: the journal does not begin with the making of a workspace
    Make the workspace with `kb init`.
KB311 newer-journal: the journal was written by a newer version of kb
    Use that version.
KB312 above-the-roof: a measurement is faster than the roof allows: it, the work or the roof is wrong
    Check the clock and the work; the roof's row has its source.
KB313 bad-memory-file: a memory file or entry does not have the form of the schema
    docs/schema holds the schema.
KB314 later-view: a rendered file names a later event than the journal holds
    Restore the journal that it was rendered from.
KB315 masked: the version is masked: it must not reach a reader
    `kb memory unmask` shows it again.
KB316 field-refused: a field of the memory that nobody may type
    The message says where its content comes from.
KB318 unknown-route: a route of tuning that does not exist
    Take one of those that the message lists.
KB319 wrong-route: the route does not fit what the task gives
    Choose another route, or give what this one needs.
KB320 target-above-roof: a performance target asks for more than the documented roofs of the product allow
    Ask for less.
KB321 no-version: the workspace has no such version
    Take one of those that the message lists.
KB322 no-field: the memory has no such field
    `kb memory search --help` lists the fields.
KB323 can't-mask: a version that may not be masked, or too few that may
    Mask another one.
KB324 version-order: a version is not the next one, or the one before it is still open
    Finish the open version, then take the next number.
KB325 loop-owns-rounds: the tuning loop begins the rounds of this workspace
    Give the hypothesis to `kb tune step --plan`.
KB326 bad-target: a performance target that can't be read or counted
    Write a share of a peak, or a rate such as 300 TFLOPS.
KB327 bad-name: a name that a workspace can't have
    Write letters, digits, - and _.
KB328 changed-meanwhile: a file changed while it was rendered; nothing was written
    Run kb render again.
KB400 unknown-policy: a policy that does not exist
    Take one of those that the message lists.
KB401 score-incomplete: a score needs the rate of every shape
    Measure the missing shapes.
KB402 repeated-hypothesis: a hypothesis equals an earlier one that is not masked
    State another one.
KB403 kernel-edited: a file was edited by hand while a campaign holds it
    Restore it, or give the edit as a proposal.
KB405 bad-proposal: a proposal does not hold what it has to
    docs/tuning.md says what a proposal holds.
KB406 not-confirmed: nobody confirmed the parameters; nothing was started
    Answer y, or add --yes.
KB407 kernel-not-measured: a kernel that is wrong or does not run is not measured
    Make it right first.
KB408 bad-policy: a value of the policy that can't be meant
    The message says what fits.
KB410 bad-project-file: a project file can't be used as it stands
    docs/projects.md describes it.
KB411 bad-bundle: a candidate is no bundle of project files
    Make another workspace.
KB412 bad-csv: a benchmark's CSV has no time for every shape
    Make the benchmark write one row a shape.
KB413 forbidden-change: a proposal writes where it may not, or changes more than the text of files; nothing was built
    Change editable files only.
KB414 project-changed: a file that every round rests on was changed since the campaign began
    Restore it, or make another workspace.
KB415 can't-copy: the project can't be copied to a scratch folder
    Check permissions and free space.
KB416 copy-differs: a file of the project is not what it was at the baseline
    Restore it, or make another workspace.
KB417 no-baseline: the baseline has no finished benchmark
    Make the benchmark run, then begin again.
KB420 otherwise-confirmed: the campaign was confirmed with something else
    Resume it as it is, or stop it and start another.
KB421 simulated-mix: simulated and measured records never share a workspace
    Make another workspace.
KB422 wrong-stop: a campaign does not end with this reason where it stands
    The message lists the reasons.
KB423 no-environment: the machine did not say what it is
    Run on a machine with a GPU that works.
KB424 can't-retime: the accepted version can't be timed on this machine
    Go on where it was accepted.
KB425 rounds-by-hand: rounds of this workspace were begun by hand, and the loop begins its own
    Make another workspace.
KB426 campaign-needs: a condition of the campaign can't be computed
    Give what the message names, then kb workspace set.
KB427 bad-patch: the patch names no file or does not apply
    Make it against the version that it names.
KB428 wrong-product: the device is another product than the workspace's
    Make a workspace for it.
KB429 machine-changed: the open round was begun on another machine
    Finish it there, or end the campaign.
KB430 no-campaign: there is no open campaign
    `kb tune run` begins one.
KB431 nothing-accepted: no version was accepted yet
    Run more rounds.
KB432 no-kernel: the workspace has no kernel.py, or it is empty
    Restore it.
KB433 project-kernel: the kernel is files of a project and is not measured alone
    Let the project's own benchmark measure it.
KB434 no-records: the version has no whole set of measurement records
    Measure it with kb bench kernel.
KB440 bad-record: a launch record that can't be used: malformed, or beyond what a replay may allocate or launch
    Record it again with kb record.
KB442 device-fact-unknown: a launcher asks for a property of the device that no sourced row answers
    Name a product whose page has it with --platform, or pass the number to the launcher.
KB444 launch-parameters: a compiled kernel takes parameters in a way that is not known here
    Record with another version of Triton; docs/launch_records.md names those that were tried.
KB445 launcher-fails: a launcher raises, or does not end, on tensors that have no memory
    Read what it raised; a launcher may allocate, fill, copy, view and launch.
KB446 launches-nothing: a recorded call launches no kernel
    Name the function that launches.
KB447 no-launcher: a file or module has no function of that name
    Name one that it has: FILE.py:function or package.module:function.
KB448 reads-values: a launcher reads a value of a tensor, which has none while it is recorded
    Pass what it reads as a number.
KB449 driver-error: the GPU driver refused a call of a replay, or a kernel left the device in an error
    Read the driver's word in the message; an illegal address is the kernel's fault.
KB451 no-reference: there is nothing to compare a record's result with
    Give --reference FILE with make_inputs and reference.
KB452 not-replayable: a record whose results need what the launcher computed outside its launches
    Move the computation into kernels; the message names it.
KB453 reference-fails: the reference file fails, or its process ended
    Run the file's make_inputs and reference by hand.
KB454 input-size: an input has another size than the record was made for
    Record it again for these inputs.
KB455 code-object: a code object of a record is absent, too large, or not the one that its name says
    Record it again with kb record.
KB456 bad-call: arguments that describe a call do not go together
    kb record --help shows both forms.
"""


@cache
def causes() -> dict[Code, Cause]:
    """Return the table: a line `code name: cause`, below it the remedy."""
    lines = _TABLE.strip().splitlines()
    table: dict[Code, Cause] = {}
    for head, remedy in zip(lines[::2], lines[1::2], strict=True):
        title, _, cause = head.partition(": ")
        code, name = title.split(" ")
        if code not in get_args(Code) or code in table:
            raise ValueError(f"{code} is not in the closed list, or stands twice")
        table[cast("Code", code)] = Cause(name, cause, remedy.strip())
    return table


def cause_of(word: str) -> Code:
    """Return a code that another process wrote, as a code of the list; raises `ValueError` for any other word."""
    if word not in get_args(Code):
        raise ValueError(f"{word!r} is no error code")
    return cast("Code", word)
