"""The pages for people who come from other programs: every function, and what replaces it.

The lists are the public names of cegpy 1.1.0, and what version 2.3.0 of stagedtrees exports.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cegdb
from cegdb import evidence

DOCS = Path(__file__).parents[2] / "docs"
CEGPY = """
    EventTree var_order struct_missing_label missing_label complete_case sampling_zero_paths
    root variables sampling_zeros situations leaves edge_counts categories_per_variable
    dot_graph create_figure edge_info
    StagedTree prior prior_list posterior posterior_list alpha hyperstage initial_staging
    colour_list edge_countset ahc_output calculate_AHC_transitions staged
    ChainEventGraph node_prefix generate sink stages path_list CegAlreadyGenerated
    ChainEventGraphReducer certain_edges uncertain_edges certain_nodes uncertain_nodes paths
    graph clear_all_evidence add_certain_edge remove_certain_edge add_certain_edge_list
    remove_certain_edge_list add_uncertain_edge_set remove_uncertain_edge_set
    add_uncertain_edge_set_list remove_uncertain_edge_set_list add_certain_node
    remove_certain_node add_certain_node_set remove_certain_node_set add_uncertain_node_set
    remove_uncertain_node_set add_uncertain_node_set_list remove_uncertain_node_set_list
"""
STAGEDTREES = """
    as_adj_matrix as_bn as_igraph as_parentslist as_sevt barplot ceg ci_matrices cid
    compare_stages confint depsubtree diff_stages full generate_linear_dataset
    generate_random_dataset generate_xor_dataset get_edges get_path get_stage get_vertices
    hamming_stages inclusions_stages indep join_all join_positions join_stages
    join_unobserved logLik lr_test make_stages_col plot predict print prob
    random_parentslist random_sevt rename_stage sample_from search_best search_greedy sevt
    sevt_add sevt_df sevt_fit sevt_nvar sevt_simplify sevt_varnames split_stage_random
    stages stages_bhc stages_bhcr stages_bj stages_csbhc stages_fbhc stages_hc
    stages_hclust stages_kmeans stages_simplebhc stndnaming subtree summary text write_tikz
    Asym PhDArticles Pokemon covid_patients
"""
CLASSES = {
    "db": cegdb.Database,
    "survey": cegdb.Survey,
    "tree": cegdb.EventTree,
    "staged": cegdb.StagedTree,
    "a": cegdb.StagedTree,
    "ceg": cegdb.ChainEventGraph,
    "given": cegdb.ConditionedCeg,
    "evidence": evidence,
}


def rows_of(page: str) -> list[tuple[str, str]]:
    """Return the rows of the tables that have two columns: theirs and ours."""
    text = (DOCS / "coming-from" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)


@pytest.mark.parametrize(("page", "names"), [("cegpy", CEGPY), ("stagedtrees", STAGEDTREES)])
def test_every_function_of_the_program_is_in_a_table(page: str, names: str) -> None:
    theirs = set(re.findall(r"\w+", " ".join(left for left, _ in rows_of(page))))
    assert [name for name in names.split() if name not in theirs] == []


@pytest.mark.parametrize("page", ["cegpy", "stagedtrees"])
def test_what_replaces_a_function_exists(page: str) -> None:
    ours = " ".join(right for _, right in rows_of(page))
    called = set(re.findall(r"(?<![\w.\"])(\w+)\.(\w+)", ours))
    checked = {(name, member) for name, member in called if name in CLASSES}
    assert len(checked) > 20
    assert {(n, m) for n, m in checked if not hasattr(CLASSES[n], m)} == set()
    reference = (DOCS / "reference" / "sql.md").read_text(encoding="utf-8")
    views = set(re.findall(r"cegdb\.(\w+)", ours))
    assert {view for view in views if f"### `cegdb.{view}" not in reference} == set()
