"""Draws invoices by Typst or WeasyPrint, in this process and warm: a JSON list of documents a line in, figures a line out.

Usage: side.py typst|weasyprint FOLDER_OF_FONTS. Each side keeps what can be kept between documents: the parsed template,
the fonts, the style sheet.
"""
import html
import json
import sys
import time
from pathlib import Path

STYLE = """
@page { size: A4; margin: 48pt }
@font-face { font-family: N; src: url(file://%s) } @font-face { font-family: N; font-weight: bold; src: url(file://%s) }
body { font: 9pt N } h1 { font-size: 22pt; text-align: right; margin: 0 } table { width: 100%%; border-collapse: collapse }
td + td, th + th { text-align: right } .pair td { padding: 2pt 0 }
"""


def typst_side(fonts):
    import typst

    template = Path(__file__).with_name("invoice.typ")
    compiler = typst.Compiler(str(template), font_paths=[fonts], ignore_system_fonts=True)
    return lambda document: compiler.compile(format="pdf", sys_inputs={"document": json.dumps(document)}, pdf_tags=False)


def page_of(d):
    words = html.escape
    lines = lambda some: "<br>".join(words(one) for one in some)
    rows = lambda some, cell: "".join("<tr>" + "".join(f"<{cell}>{words(one)}</{cell}>" for one in row) + "</tr>" for row in some)
    pairs = lambda some: rows([[one["label"], one["value"]] for one in some], "td")
    return f"""<html lang=en><title>{words(d['heading']['title'])}</title><h1>{words(d['heading']['title'])}</h1>
<p>{words(d['heading']['number'])}<p><b>{words(d['seller']['name'])}</b><br>{lines(d['seller']['lines'])}
<p>{words(d['client']['label'])}<br><b>{words(d['client']['name'])}</b><br>{lines(d['client']['lines'])}
<table class=pair>{pairs(d['facts'] + [d['due']])}</table><table>{rows([d['columns']], 'th')}{rows(d['rows'], 'td')}</table>
<table class=pair>{pairs(d['sums'])}</table><p>{words(d['terms'])}<p>{words(d['footer'])}"""


def weasyprint_side(fonts):
    from weasyprint import CSS, HTML
    from weasyprint.text.fonts import FontConfiguration

    kept = FontConfiguration()
    regular, bold = (next(Path(fonts).glob(f"*_{weight}.ttf")) for weight in ("400Regular", "700Bold"))
    style = CSS(string=STYLE % (regular, bold), font_config=kept)
    return lambda document: HTML(string=page_of(document)).write_pdf(stylesheets=[style], font_config=kept)


SIDES = {"typst": typst_side, "weasyprint": weasyprint_side}


def main():
    name, fonts = sys.argv[1:]
    draw = SIDES[name](fonts)
    for line in sys.stdin:
        documents = json.loads(line)
        start = time.process_time()
        made = [draw(document) for document in documents]
        spent = (time.process_time() - start) * 1000 / len(documents)
        if not all(pdf.startswith(b"%PDF") for pdf in made):
            raise SystemExit("no PDF")
        print(json.dumps({"cpuMs": spent, "bytes": len(made[-1])}), flush=True)


main()
