"""CSV and TSV with named columns."""

from __future__ import annotations

import csv
import io
import os
from contextlib import nullcontext

import pytest

from prevalence.errors import InputError
from prevalence.readers import read_products
from prevalence.readers.products import check_header
from prevalence.records import BadRecord, Product, Review, Summary
from prevalence.runs.selection import Selection


def read(tmp_path, text, name="in.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_products(path, **options))


def test_one_product_a_row(tmp_path):
    text = "ID,Name,rev2,rev1,summary,system,price\nx,kettle,B.,A.,Fine.,gpt,3\n\ny,,b,a,,,\n"
    first, second = read(tmp_path, text)
    assert first == Product(
        id="x",
        name="kettle",
        reviews=(Review("A."), Review("B.")),
        summaries=(Summary("gpt", "Fine."),),
        extra={"price": "3"},
        source=f"{tmp_path}/in.csv:2",
    )
    assert second.name is None
    assert second.summaries == (Summary("summary", ""),)
    assert second.source == f"{tmp_path}/in.csv:4"


@pytest.mark.parametrize(
    "cell", ["NA", "N/A", "nan", "NaN", "NULL", "<NA>", "#N/A", "#NAME?", " NA "]
)
def test_what_stands_for_no_value_is_an_empty_cell(tmp_path, cell):
    text = f"id,name,rev1,rev2,rev3,summary,price\nx,{cell},{cell},A.,{cell},{cell},{cell}\n"
    (item,) = read(tmp_path, text)
    assert item.name is None
    assert item.reviews == (Review(""), Review("A."))
    assert item.summaries == (Summary("summary", ""),)
    assert item.extra == {"price": ""}


@pytest.mark.parametrize("cell", ["na", "None", "none", "NA.", "The NA", "n/a", "0", "#1"])
def test_what_people_write_is_a_value(tmp_path, cell):
    (item,) = read(tmp_path, f"id,rev1,summary\nx,{cell},{cell}\n")
    assert item.reviews == (Review(cell),)
    assert item.summaries == (Summary("summary", cell),)


def test_a_row_of_missing_values_is_skipped(tmp_path):
    assert len(read(tmp_path, "id,rev1,summary\nx,A.,S.\nNA,NA,NA\n")) == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["in.csv", "in"])
def test_the_header_tells_the_delimiter(tmp_path, delimiter, name):
    text = "asin,review_1,summary : a b\nx,A.,S.\n".replace(",", delimiter)
    (item,) = read(tmp_path, text, name)
    assert item.id == "x"
    assert item.summaries == (Summary("a b", "S."),)


@pytest.mark.parametrize("name", ["in.csv", "in.txt", "in.tsv"])
@pytest.mark.parametrize("line", ["sep=;\r\n", "\ufeffSEP=;\n", '"sep=;"\n', "sep=;;;\n"])
def test_the_line_with_which_excel_states_the_delimiter(tmp_path, line, name):
    (item,) = read(tmp_path, f"{line}id;rev1;summary\nx;A, b.;S.\n", name)
    assert item.reviews == (Review("A, b."),)
    assert item.source == f"{tmp_path}/{name}:3"


def test_numbered_columns_may_have_a_space(tmp_path):
    (item,) = read(tmp_path, "id,Review 2,Review 1,Summary 1,summary_2\nx,B.,A.,S.,T.\n")
    assert item.reviews == (Review("A."), Review("B."))
    assert item.summaries == (Summary("Summary 1", "S."), Summary("summary_2", "T."))


def test_an_unknown_header_is_cut_at_the_delimiter_that_it_has_most_of(tmp_path):
    said = "rename 'Review Text' to 'review' and 'SKU' to 'id'; the columns are: SKU, Review Text, "
    with pytest.raises(InputError, match=said):
        read(tmp_path, "SKU;Review Text;Our summary\nx;A.;S.\n")


def test_tsv_is_always_tab_separated(tmp_path):
    (item,) = read(tmp_path, 'id\treviews\tsumm1\tsummary_2\nx\t["a, b"]\tA\tB\n', format="tsv")
    assert item.reviews == (Review("a, b"),)
    assert item.summaries == (Summary("summ1", "A"), Summary("summary_2", "B"))


def test_quoting_line_breaks_and_the_line_numbers_after_them(tmp_path):
    text = 'id,rev1,summary\r\nx,"one\r\n\r\n""two""",S\r\ny,a,b\r\n'
    first, second = read(tmp_path, text)
    assert first.reviews == (Review('one\r\n\r\n"two"'),)
    assert second.source == f"{tmp_path}/in.csv:5"


def test_a_missing_id_becomes_file_and_line(tmp_path):
    assert read(tmp_path, "rev1,summary\na,b\n")[0].id == "in.csv:2"


def test_empty_review_cells_at_the_end_are_no_reviews_inside_they_are(tmp_path):
    text = "id,rev1,rev2,rev3,rev4,summary\nx,a,,c,,s\ny,,,,,s\nz,a, ,,,s\n"
    first, none, blank = read(tmp_path, text)
    assert [review.text for review in first.reviews] == ["a", "", "c"]
    assert "reviews: has no review" in none.error
    assert [review.text for review in blank.reviews] == ["a", " "]


def test_a_column_with_a_json_list(tmp_path):
    buffer = io.StringIO()
    cells = [["id", "reviews", "summary"], ["x", '["a", {"text": "b", "id": "r"}]', "s"]]
    csv.writer(buffer).writerows([*cells, ["y", "[1]", "s"], ["z", "oops", "s"], ["w", "{}", "s"]])
    good, number, broken, other = read(tmp_path, buffer.getvalue())
    assert good.reviews == (Review("a"), Review("b", "r"))
    assert "reviews[0]: is the number 1" in number.error
    assert broken.error.startswith(f'{tmp_path}/in.csv:4: column "reviews": not valid JSON')
    assert 'column "reviews": is an object' in other.error


def test_one_review_a_row(tmp_path):
    text = (
        "product_id,review,review_id,rating,summary,name\n"
        "x,A.,r1,5,,\nx,,r2,1,Fine.,kettle\ny,C.,,3,Other.,\n"
    )
    first, second = read(tmp_path, text)
    assert first == Product(
        id="x",
        name="kettle",
        reviews=(Review("A.", "r1", {"rating": "5"}), Review("", "r2", {"rating": "1"})),
        summaries=(Summary("summary", "Fine."),),
        source=f"{tmp_path}/in.csv:2",
    )
    assert second.id == "y"


@pytest.mark.parametrize("heading", ["rating", "Rating", " RATING "])
def test_a_rating_is_read_in_any_case_and_other_columns_keep_theirs(tmp_path, heading):
    (long,) = read(tmp_path, f"ID,Review,{heading},Colour,Summary\nx,A.,5,red,S.\n")
    assert long.reviews == (Review("A.", None, {"rating": "5", "Colour": "red"}),)
    (wide,) = read(tmp_path, f"ID,Rev1,{heading},Colour,Reference,Summary\nx,A.,5,red,R.,S.\n")
    assert wide.extra == {"rating": "5", "Colour": "red", "reference": "R."}


@pytest.mark.parametrize(
    ("cell", "rating"), [("4,5", "4.5"), (" -,5 ", " -.5 "), ("1,234,5", "1,234,5"), ("4.5", "4.5")]
)
def test_a_rating_with_a_decimal_comma_where_semicolons_cut_cells(tmp_path, cell, rating):
    """No other column is one of numbers, and no other delimiter goes with such commas."""
    text = f'id;review;Rating;size;summary\nx;"4,5";"{cell}";4,5;"4,5"\n'
    for start in ("", "sep=;\n"):
        (product,) = read(tmp_path, start + text)
        assert product.reviews == (Review("4,5", None, {"rating": rating, "size": "4,5"}),)
        assert product.summaries == (Summary("summary", "4,5"),)
    for delimiter in ("\t", "|"):
        (product,) = read(tmp_path, text.replace(";", delimiter))
        assert product.reviews[0].extra["rating"] == cell


def test_rows_of_a_product_may_stand_anywhere(tmp_path):
    text = "id,review,summary\nx,A.,S.\ny,B.,T.\nx,C.,\ny,D.,\nx,E.,\n"
    first, second = read(tmp_path, text)
    assert (first.id, [review.text for review in first.reviews]) == ("x", ["A.", "C.", "E."])
    assert (second.id, [review.text for review in second.reviews]) == ("y", ["B.", "D."])


def test_summaries_of_several_systems_row_by_row(tmp_path):
    text = "id,review_text,system,summary\nx,A.,a,One.\nx,B.,b,Two.\nx,C.,a,One.\nx,D.,a,Other.\n"
    product, bad = read(tmp_path, text)
    assert product.summaries == (Summary("a", "One."), Summary("b", "Two."))
    assert len(product.reviews) == 4
    said = 'in.csv:5: column "summary": is a second summary of the system'
    assert bad.error.startswith(f"{tmp_path}/{said}")
    assert bad.system == "a"


@pytest.mark.parametrize(
    ("column", "rename"), [("Vendor", "; rename 'Vendor' to 'system'"), ("agency", "")]
)
def test_systems_in_a_column_of_another_name(tmp_path, column, rename):
    text = f"id,review,{column},summary\nx,A.,a,One.\nx,B.,b,Two.\n"
    _, bad = read(tmp_path, text)
    assert bad.error == (
        f"{tmp_path}/in.csv:3: column \"summary\": is a second summary of the system 'summary'; "
        f'give every system its own name in a column "system"{rename}; the columns are: '
        f"id, review, {column}, summary"
    )


def texts_of(product):
    return [review.text for review in product.reviews]


PAIRS = (
    "id,review,stars,system,summary\n"
    "x,A.,5,a,One.\nx,A.,5,b,Two.\nx,A.,1,a,One.\nx,A.,1,b,Two.\nx,B.,3,b,Two.\nx,B.,3,a,One.\n"
)


@pytest.mark.parametrize("options", [{}, {"summaries": False}])
def test_a_row_for_each_review_and_system_counts_each_review_once(tmp_path, options):
    """Two people wrote "A.", which each system has twice."""
    with pytest.warns(RuntimeWarning) as caught:
        product, other = read(tmp_path, f"{PAIRS}y,C.,4,a,Three.\n", **options)
    assert product.reviews == tuple(
        Review(text, None, {"stars": stars})
        for text, stars in (("A.", "5"), ("A.", "1"), ("B.", "3"))
    )
    assert product.summaries == (Summary("a", "One."), Summary("b", "Two."))
    assert texts_of(other) == ["C."]
    assert [str(warning.message) for warning in caught] == [
        f"{tmp_path}/in.csv: the rows of 1 product repeat the reviews for every system; "
        "each review is counted once, without 3 rows"
    ]


@pytest.mark.parametrize(
    "rows",
    [
        # A review of one system alone: others may have been written by several people.
        "x,A.,a,One.\nx,A.,b,Two.\nx,B.,a,One.\n",
        "x,A.,a,One.\nx,A.,a,One.\nx,A.,b,Two.\n",
        # A row without a system is of none.
        "x,A.,,\nx,B.,a,One.\nx,B.,b,Two.\n",
        "x,A.,a,One.\nx,A.,a,\nx,A.,a,\n",
    ],
)
def test_reviews_that_differ_between_systems_count_in_every_row(tmp_path, rows):
    (product,) = read(tmp_path, f"id,review,system,summary\n{rows}")
    assert len(product.reviews) == 3


def test_a_system_without_summaries_is_that_of_the_reviewer(tmp_path):
    text = "id,review,system\nx,Good.,Windows\nx,Good.,Linux\n"
    (product,) = read(tmp_path, text, summaries=False)
    assert len(product.reviews) == 2


def test_ids_tell_which_reviews_are_repeated_for_another_system(tmp_path):
    text = (
        "product_id,review_id,review,system,summary\n"
        "x,1,A.,a,One.\nx,1,A.,b,Two.\nx,2,A.,a,One.\nx,3,B.,b,Two.\nx,3,Other.,a,One.\n"
        "y,1,A.,a,One.\ny,2,A.,b,Two.\n"
    )
    with pytest.warns(RuntimeWarning, match="1 product .* without 1 row$"):
        first, second = read(tmp_path, text)
    assert [(review.id, review.text) for review in first.reviews] == [
        ("1", "A."), ("2", "A."), ("3", "B."), ("3", "Other."),
    ]  # fmt: skip
    assert texts_of(second) == ["A.", "A."]


@pytest.mark.parametrize("options", [{}, {"summaries": False}])
def test_rows_with_the_same_review_id_and_text_are_one_review(tmp_path, options):
    text = (
        "id,review_id,review,stars,summary\n"
        "x,1,A.,5,One.\nx,1,A.,4,\nx,2,A.,3,\nx,1,Other.,2,\nx,,A.,1,\nx,,A.,1,\n"
        "y,1,A.,5,Two.\n"
    )
    with pytest.warns(RuntimeWarning) as caught:
        product, other = read(tmp_path, text, **options)
    assert [(review.id, review.text, review.extra["stars"]) for review in product.reviews] == [
        ("1", "A.", "5"), ("2", "A.", "3"), ("1", "Other.", "2"), (None, "A.", "1"),
        (None, "A.", "1"),
    ]  # fmt: skip
    assert texts_of(other) == ["A."]
    assert [str(warning.message) for warning in caught] == [
        f"{tmp_path}/in.csv: the rows of 1 product repeat reviews; each review is counted once, "
        "without 1 row"
    ]


def test_rows_of_one_system_with_the_same_review_id_are_one_review(tmp_path):
    rows = "x,1,A.,a,One.\nx,1,A.,a,One.\nx,2,B.,b,Two.\n"
    with pytest.warns(RuntimeWarning, match="1 product repeat reviews; .* without 1 row$"):
        (product,) = read(tmp_path, f"id,review_id,review,system,summary\n{rows}")
    assert texts_of(product) == ["A.", "B."]


def test_rows_of_empty_cells_are_no_rows(tmp_path):
    wide = read(tmp_path, ",,\nid,rev1,summary\nx,A.,S.\n , ,\ny,B.,T.\n,,\n,,\n")
    assert [item.id for item in wide] == ["x", "y"]
    assert wide[1].source == f"{tmp_path}/in.csv:5"
    (long,) = read(tmp_path, "id,review,summary\nx,A.,S.\n,,\nx,B.,\n,,\n")
    assert [review.text for review in long.reviews] == ["A.", "B."]
    (product,) = read(tmp_path, 'review,rating\nA.,5\n,\n"",""\n,1\n', summaries=False)
    # A row that holds a rating is a review, though nobody wrote a word.
    assert [review.text for review in product.reviews] == ["A.", ""]
    plain = "cat\tprod_id\trev1\tsumm1\nc\tx\tA.\tS.\n\t\t\t\n"
    assert [item.id for item in read(tmp_path, plain, format="copycat")] == ["x"]


def test_a_faulty_row_spoils_its_product_because_m_would_be_wrong(tmp_path):
    text = b"id,review,summary\n,D.,S.\nx,A.,S.\nx,\xff,\ny,B.,S.\nz,C.\nw,E.,\nv,F.,S.\n,G.,S.\n"
    spoilt, good, short, empty, before, first, last = read(tmp_path, text)
    lost = "cell 2: is not UTF-8, so product 'x' is left out; save the file as UTF-8"
    assert spoilt.error == f'{tmp_path}/in.csv:4: {lost} (Excel calls it "CSV UTF-8")'
    assert good.id == "y"
    assert "in.csv:6: has 2 cells where the header has 3, so product 'z' is left" in short.error
    assert "summaries: has no summary" in empty.error
    assert (before.id, [review.text for review in before.reviews]) == ("v", ["F."])
    for line, row in ((2, first), (9, last)):
        assert row.error.startswith(f"{tmp_path}/in.csv:{line}: the row has no product id, so it ")
        assert row.id is None


def test_a_row_that_cannot_be_read_belongs_to_the_product_before(tmp_path):
    spoilt, good = read(tmp_path, 'id,review,summary\nx,A.,S.\nx,"B"b,\ny,C.,S.\n')
    assert spoilt.error.startswith(f"{tmp_path}/in.csv:3: the row cannot be read")
    assert isinstance(spoilt, BadRecord)
    assert spoilt.id == "x"
    assert good.id == "y"


@pytest.mark.parametrize(
    ("rows", "left_out"),
    [
        # Its id can be read, so that the product before is whole.
        ('x,A.,S.\ny,"B"b,S.\ny,C.,S.\n', {"y": 3}),
        # It may have been the last review of one product or the first of the other.
        ('x,A.,S.\n"y","B" b, c",S.\ny,C.,S.\n', {"x": 3, "y": 3}),
        ('"y","B" b, c",S.\ny,C.,S.\n', {"y": 2}),
        # The quote that is missing has taken a row of the next product along.
        ('x,A.,S.\nx,"B.,S.\ny,C.,S.\ny,"D.",S.\ny,E.,S.\n', {"x": 3, "y": 3}),
    ],
)
def test_no_product_is_short_of_a_row_that_cannot_be_read(tmp_path, rows, left_out):
    items = read(tmp_path, f"id,review,summary\n{rows}z,F.,S.\n")
    assert {item.id: item.error.split(":")[1] for item in items if isinstance(item, BadRecord)} == {
        name: str(line) for name, line in left_out.items()
    }
    assert all(len(item.reviews) == 1 for item in items if isinstance(item, Product))
    assert items[-1].id == "z"


def test_rows_that_a_missing_quote_joins_are_named(tmp_path):
    text = 'id,review,summary\nx,"B.,S.\ny,C.,S.\nz,"D.",S.\n'
    (item,) = read(tmp_path, text)
    assert item.error.startswith(f"{tmp_path}/in.csv:2: the rows up to line 4 cannot be read")


def test_an_id_beside_that_of_the_product_is_the_review_s(tmp_path):
    text = "Id,ProductName,product_id,review,summary\n1,lamp,x,A.,S.\n2,lamp,x,B.,S.\n"
    (product,) = read(tmp_path, text)
    assert product.id == "x"
    assert [(review.text, review.id) for review in product.reviews] == [("A.", "1"), ("B.", "2")]
    assert product.reviews[0].extra == {"ProductName": "lamp"}
    # With all reviews of a product in its row, there is no other id.
    assert read(tmp_path, "id,product_id,rev1,summary\n1,x,A.,S.\n")[0].id == "1"


def test_a_blank_summary_beside_a_review_is_none(tmp_path):
    (product,) = read(tmp_path, "id,review,summary\nx,A., \nx,B.,Fine.\n")
    assert product.summaries == (Summary("summary", "Fine."),)


@pytest.mark.parametrize("name", ["in.csv", "in"])
def test_columns_without_a_name_hide_no_table(tmp_path, name):
    (item,) = read(tmp_path, "id,rev1,summary,,\nx,A.,S.,,\n", name)
    assert item.reviews == (Review("A."),)


def test_line_ends_of_old_macs_are_named(tmp_path):
    with pytest.raises(
        InputError, match=r"header: .*carriage return.*save the file with line feed"
    ):
        read(tmp_path, "id,rev1,summary\rx,A.,S.\r")


def test_wide_rows_with_faults(tmp_path):
    text = 'id,rev1,summary\nx,"A"a,S\ny,b\nz,B,S\nw,"never closed,S\nv,C,S\n'
    quoted, short, good, unclosed = read(tmp_path, text)
    assert quoted.error.startswith(f"{tmp_path}/in.csv:2: the row cannot be read")
    assert short.error.startswith(f"{tmp_path}/in.csv:3: has 2 cells where the header has 3")
    assert short.id == "y"
    assert good.id == "z"
    assert unclosed.error.startswith(f"{tmp_path}/in.csv:5: a quote opened in this row")


def test_nul_bytes_and_large_cells(tmp_path):
    big = "word " * 100_000
    (item,) = read(tmp_path, f"id,rev1,summary\nx,a\0b{big},\0\n")
    assert item.reviews[0].text == f"a\0b{big}"
    assert item.summaries[0].text == "\0"


def test_bom_before_the_header(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbfid,rev1,summary\nx,a,b\n")[0].id == "x"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("id,summary,price", "needs reviews in columns .*; the columns are: id, summary, price"),
        (
            "id,summary",
            "needs reviews .*; `score` also takes .* of their own, as --reviews; the",
        ),
        ("id,rev1,price", 'needs a column "summary".*; the columns are: id, rev1, price'),
        ("review,summary", "needs a column with the product's id .*: review, summary"),
        (
            "SKU,Product Title,Review Text,Stars,summary",
            "needs reviews .* and a column with the product's id .*; rename 'Review Text' to "
            "'review' and 'SKU' to 'id' and 'Product Title' to 'name'; the columns are: SKU, ",
        ),
        ("product-id,body,summary_text", "needs .*'body' to 'review' and 'summary_text' to 'summ"),
        ("sku,ean,review,summary", r"needs a column with the product's id .* in every row; the"),
        (
            "id,rev1,ID,summary",
            r"columns appear twice: id \(case does not matter: id, ID\); rename one",
        ),
        ("id,rev1,rev1,summary", "columns appear twice: rev1; rename"),
        (
            "id,review,Rating,rating,summary",
            r"columns appear twice: rating \(case does not matter: Rating, rating\); rename",
        ),
        ("id,rev1,review,summary", "has reviews in two ways"),
    ],
)
def test_unusable_headers(tmp_path, header, said):
    with pytest.raises(InputError, match=rf"in\.csv:1: {said}"):
        read(tmp_path, header + "\na,b,c,d\n")


def test_a_header_with_a_name_twice_is_told_from_text_by_its_other_names(tmp_path):
    # The name of the file says nothing.
    with pytest.raises(InputError, match=r"in\.txt:1: columns appear twice: rating"):
        read(tmp_path, "id,review,Rating,rating,summary\na,b,1,2,s\n", "in.txt")
    with pytest.raises(InputError, match="cannot tell the format from the first line"):
        read(tmp_path, "text, text, id\na,b,c\n", "in.txt")


def test_a_header_without_rows(tmp_path):
    with pytest.raises(InputError, match="holds no record"):
        read(tmp_path, "id,rev1,summary\n")


def test_a_header_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"in\.csv:1: header: "):
        read(tmp_path, 'id,"rev1"x,summary\n')


def test_an_unknown_first_line_is_shown(tmp_path):
    with pytest.raises(InputError, match="first line, 'Dear reader'"):
        read(tmp_path, "Dear reader\nhello\n", "in.txt")


def test_a_broken_first_line_before_json_lines(tmp_path):
    bad, good = read(tmp_path, 'oops\n{"reviews": ["a"], "summary": "b"}\n', "in")
    assert isinstance(bad, BadRecord)
    assert good.id == "in:2"


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("review,summary\nA.,S.\n", {}, "in.csv:1: needs a column with the product's id"),
        ("id,review\nx,A.\n", {}, 'needs a column "summary"'),
        ("", {}, "is empty"),
        ("id,review\nx,A.\n", {"summaries": False}, None),
        ("id,review,summary\nx,A.\n", {}, None),
        ("review,summary\nA.,S.\n", {"format": "jsonl"}, None),
    ],
)
def test_a_header_can_be_checked_alone(tmp_path, text, options, said):
    path = tmp_path / "in.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said) if said else nullcontext():
        check_header(path, **options)


def test_the_first_table_is_checked_before_anything_is_read(tmp_path):
    good, bad = (str(tmp_path / name) for name in ("good.csv", "bad.csv"))
    (tmp_path / "good.csv").write_text("id,rev1,summary\nx,A.,S.\n")
    (tmp_path / "bad.csv").write_text("id,rev1\nx,A.\n")
    with pytest.raises(InputError, match=r"bad\.csv:1: needs a column"):
        Selection([bad, good])
    assert next(Selection([good, bad]).items()).id == "x"


def test_a_pipe_is_not_read_to_check_its_header(tmp_path):
    pipe = tmp_path / "in.csv"
    os.mkfifo(pipe)
    check_header(pipe)  # would wait for a writer
