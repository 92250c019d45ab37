/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/screen.h"

#define NCURSES_NOMACROS /* every name is a function, and can be loaded */
#include <curses.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termcap.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/library.h"
#include "base/str.h"

enum {
    ESCAPE_MS = 50, /* how long an escape may be the beginning of a key */
    MIN_256 = 256,
    OWN_KEYS = 3000, /* codes that ncurses does not use */
    CODE_PASTE = OWN_KEYS,
    CODE_PASTE_ENDS,
    CODE_WORD_LEFT,
    CODE_WORD_RIGHT,
};

/* A style with 256 colours, with 8, and without any. -1: the terminal's own. */
struct look {
    int fg256, bg256;
    attr_t attr256;
    int fg8, bg8;
    attr_t attr8;
    attr_t attr;
};

/* clang-format off */
static const struct look looks[STYLES] = {
    [STYLE_PLAIN]    = {  -1,  -1, A_NORMAL, -1, -1,                  A_NORMAL,  A_NORMAL },
    [STYLE_DIM]      = { 244,  -1, A_NORMAL, -1, -1,                  A_DIM,     A_NORMAL },
    [STYLE_STRONG]   = {  -1,  -1, A_BOLD,   -1, -1,                  A_BOLD,    A_BOLD },
    [STYLE_BAR]      = { 252, 236, A_NORMAL, -1, -1,                  A_REVERSE, A_REVERSE },
    [STYLE_CALL]     = { 221, 236, A_BOLD,   -1, -1,                  A_REVERSE | A_BOLD, A_REVERSE | A_BOLD },
    [STYLE_ALARM]    = { 231,  88, A_NORMAL, COLOR_WHITE, COLOR_RED,  A_BOLD,    A_REVERSE | A_BOLD },
    [STYLE_CHOSEN]   = { 255, 238, A_BOLD,   -1, -1,                  A_REVERSE, A_REVERSE },
    [STYLE_WAIT]     = { 178,  -1, A_NORMAL, COLOR_YELLOW, -1,        A_NORMAL,  A_BOLD },
    [STYLE_GOOD]     = {  71,  -1, A_NORMAL, COLOR_GREEN, -1,         A_NORMAL,  A_NORMAL },
    [STYLE_BAD]      = { 167,  -1, A_NORMAL, COLOR_RED, -1,           A_NORMAL,  A_BOLD },
    [STYLE_ME]       = {  -1,  -1, A_BOLD,   -1, -1,                  A_BOLD,    A_BOLD },
    [STYLE_NAME]     = {  74,  -1, A_NORMAL, COLOR_CYAN, -1,          A_NORMAL,  A_NORMAL },
    [STYLE_NAME + 1] = { 108,  -1, A_NORMAL, COLOR_GREEN, -1,         A_NORMAL,  A_NORMAL },
    [STYLE_NAME + 2] = { 139,  -1, A_NORMAL, COLOR_MAGENTA, -1,       A_NORMAL,  A_NORMAL },
    [STYLE_NAME + 3] = { 173,  -1, A_NORMAL, COLOR_YELLOW, -1,        A_NORMAL,  A_NORMAL },
    [STYLE_NAME + 4] = { 109,  -1, A_NORMAL, COLOR_BLUE, -1,          A_NORMAL,  A_NORMAL },
    [STYLE_NAME + 5] = { 180,  -1, A_NORMAL, COLOR_CYAN, -1,          A_BOLD,    A_NORMAL },
};
/* clang-format on */

/* --- the library --- */

/* Functions, and behind them variables. A gateway draws nothing and does not load it. */
/* clang-format off */
#define CURSES_NAMES(X) \
    X(clearok) X(curs_set) X(define_key) X(endwin) X(erase) X(get_wch) \
    X(has_colors) X(init_pair) X(isendwin) X(keypad) X(move) X(mvadd_wch) \
    X(newterm) X(nodelay) X(noecho) X(nonl) X(raw) X(refresh) X(resizeterm) \
    X(set_escdelay) X(setcchar) X(start_color) X(tgetent) X(tigetstr) X(unget_wch) \
    X(ungetch) X(use_default_colors) X(COLORS) X(COLS) X(LINES) X(curscr) X(stdscr)
/* clang-format on */

static struct {
    CURSES_NAMES(LIBRARY_POINTER)
} curses;

static const char *const curses_names[] = { CURSES_NAMES(LIBRARY_NAME) };
_Static_assert(sizeof(curses) == sizeof(curses_names));
static const struct library curses_library = { "libncursesw.so.6", "libncursesw6",
                                               curses_names, COUNT(curses_names) };

/* --- colours --- */

/* NO_COLOR: https://no-color.org, "when present and not an empty string". */
static bool wants_colours(void)
{
    const char *no = getenv("NO_COLOR");

    return curses.has_colors() && (!no || !*no);
}

/* Pair N belongs to style N - 1. Without default colours -1 is white on black. */
static void choose_colours(void)
{
    bool has_default;

    if (!wants_colours() || curses.start_color() == ERR)
        return;
    has_default = curses.use_default_colors() == OK;
    for (int i = 0; i < STYLES; i++) {
        const struct look *look = &looks[i];
        int fg = *curses.COLORS >= MIN_256 ? look->fg256 : look->fg8;
        int bg = *curses.COLORS >= MIN_256 ? look->bg256 : look->bg8;

        if (!has_default && fg < 0)
            fg = COLOR_WHITE;
        if (!has_default && bg < 0)
            bg = COLOR_BLACK;
        (void)curses.init_pair((short)(i + 1), (short)fg, (short)bg);
    }
}

/* What a style comes to on this terminal. */
struct paint {
    attr_t attributes;
    short pair;
};

static void mix(struct paint paints[static STYLES])
{
    bool has_colours = wants_colours();

    for (int i = 0; i < STYLES; i++) {
        const struct look *look = &looks[i];

        paints[i] = (struct paint){ look->attr, 0 };
        if (has_colours)
            paints[i] = (struct paint){
                *curses.COLORS >= MIN_256 ? look->attr256 : look->attr8,
                (short)(i + 1),
            };
    }
}

/* --- life --- */

/* Pasted text comes between marks where the terminal knows how; others ignore it. */
static void ask_for_marks(bool wanted)
{
    const char *text = wanted ? "\033[?2004h" : "\033[?2004l";
    const char *move = curses.tigetstr("cup");

    if (move && move != (char *)-1 && str_starts(str_of(move), S("\033["))) {
        (void)fputs(text, stdout);
        (void)fflush(stdout);
    }
}

static void define(const char *capability, int code)
{
    const char *text = curses.tigetstr(capability);

    if (text && text != (char *)-1)
        (void)curses.define_key(text, code);
}

static void set_modes(void)
{
    (void)curses.raw();
    (void)curses.noecho();
    (void)curses.nonl();
    (void)curses.nodelay(*curses.stdscr, TRUE);
    (void)curses.keypad(*curses.stdscr, TRUE);
    (void)curses.set_escdelay(ESCAPE_MS);
    (void)curses.define_key("\033[200~", CODE_PASTE);
    (void)curses.define_key("\033[201~", CODE_PASTE_ENDS);
    define("kLFT5", CODE_WORD_LEFT);
    define("kRIT5", CODE_WORD_RIGHT);
}

/* Asked before newterm(), which does not free what it made for a terminal it does
 * not know. */
static bool is_known(const char *terminal)
{
    return terminal && curses.tgetent(NULL, terminal) == 1;
}

enum err screen_open(const char **ret_why)
{
    *ret_why = "standard input and output are no terminal";
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return ERR_INVALID;
    *ret_why = "libncursesw.so.6, of the Debian package libncursesw6, cannot be loaded";
    if (library_load(&curses_library, &curses, NULL))
        return ERR_INVALID;
    *ret_why = "$TERM names a terminal that is not known here";
    if (!is_known(getenv("TERM")) || !curses.newterm(NULL, stdout, stdin))
        return ERR_INVALID;
    choose_colours();
    set_modes();
    ask_for_marks(true);
    return OK;
}

void screen_close(void)
{
    if (!curses.stdscr || !*curses.stdscr || curses.isendwin())
        return;
    ask_for_marks(false);
    (void)curses.endwin();
}

void screen_suspend(void)
{
    ask_for_marks(false);
    (void)curses.endwin();
}

/* Whatever the other program left there, all is drawn anew. */
void screen_resume(void)
{
    (void)curses.refresh();
    (void)curses.clearok(*curses.curscr, TRUE);
    ask_for_marks(true);
}

void screen_measure(unsigned *ret_rows, unsigned *ret_columns)
{
    struct winsize size = {};
    int rows = *curses.LINES;
    int columns = *curses.COLS;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
        rows = size.ws_row;
        columns = size.ws_col;
    }
    if (rows != *curses.LINES || columns != *curses.COLS) {
        (void)curses.resizeterm(rows, columns);
        (void)curses.clearok(*curses.curscr, TRUE);
    }
    *ret_rows = (unsigned)rows;
    *ret_columns = (unsigned)columns;
}

/* --- out --- */

void screen_redraw(void)
{
    (void)curses.clearok(*curses.curscr, TRUE);
}

static void show_row(const struct canvas *canvas, unsigned row,
                     const struct paint paints[static STYLES])
{
    const struct cell *cell = canvas->cells + (size_t)row * canvas->columns;

    for (unsigned column = 0; column < canvas->columns; column++, cell++) {
        const struct paint *paint = &paints[cell->style];
        cchar_t out;

        if (cell->columns == 0)
            continue;
        if (curses.setcchar(&out, cell->text, paint->attributes, paint->pair, NULL) !=
            ERR)
            (void)curses.mvadd_wch((int)row, (int)column, &out);
    }
}

void screen_show(const struct canvas *canvas)
{
    struct paint paints[STYLES];

    mix(paints);
    (void)curses.erase();
    for (unsigned row = 0; row < canvas->rows; row++)
        show_row(canvas, row, paints);
    (void)curses.curs_set(canvas->shows_cursor ? 1 : 0);
    if (canvas->shows_cursor)
        (void)curses.move((int)canvas->cursor_row, (int)canvas->cursor_column);
    (void)curses.refresh();
}

/* --- in --- */

/* clang-format off */
static const struct {
    wint_t code;
    enum press press;
} codes[] = {
    { KEY_LEFT,        PRESS_LEFT },
    { KEY_RIGHT,       PRESS_RIGHT },
    { KEY_UP,          PRESS_UP },
    { KEY_DOWN,        PRESS_DOWN },
    { KEY_HOME,        PRESS_HOME },
    { KEY_END,         PRESS_END },
    { KEY_A1,          PRESS_HOME },
    { KEY_C1,          PRESS_END },
    { KEY_PPAGE,       PRESS_PAGE_UP },
    { KEY_NPAGE,       PRESS_PAGE_DOWN },
    { KEY_A3,          PRESS_PAGE_UP },
    { KEY_C3,          PRESS_PAGE_DOWN },
    { KEY_BACKSPACE,   PRESS_BACKSPACE },
    { KEY_DC,          PRESS_DELETE },
    { KEY_ENTER,       PRESS_ENTER },
    { KEY_F(1),        PRESS_HELP },
    { KEY_F(2),        PRESS_INBOX },
    { KEY_F(3),        PRESS_PEOPLE },
    { CODE_PASTE,      PRESS_PASTE },
    { CODE_PASTE_ENDS, PRESS_PASTE_ENDS },
    { CODE_WORD_LEFT,  PRESS_WORD_LEFT },
    { CODE_WORD_RIGHT, PRESS_WORD_RIGHT },
};
/* clang-format on */

static struct key key_of_code(wint_t code)
{
    for (size_t i = 0; i < COUNT(codes); i++)
        if (codes[i].code == code)
            return (struct key){ .press = codes[i].press };
    return (struct key){ .press = PRESS_NONE };
}

static struct key key_of_character(wint_t c)
{
    switch (c) {
    case '\r':
    case '\n': return (struct key){ .press = PRESS_ENTER, .character = c };
    case '\t': return (struct key){ .press = PRESS_TAB, .character = c };
    case '\b':
    case 0x7f: return (struct key){ .press = PRESS_BACKSPACE };
    case 0x1b: return (struct key){ .press = PRESS_ESCAPE };
    }
    if (c < 0x20)
        return (struct key){ .press = PRESS_CONTROL, .character = c + 0x60 };
    if (c < 0xa0 && c > 0x7e)
        return (struct key){ .press = PRESS_NONE };
    return (struct key){ .press = PRESS_TEXT, .character = c };
}

/* Alt with a letter is an escape that the letter follows at once. */
static struct key after_escape(void)
{
    struct key escape = { .press = PRESS_ESCAPE };
    wint_t c;
    int type = curses.get_wch(&c);

    if (type == ERR)
        return escape;
    if (type != KEY_CODE_YES && c == 'b')
        return (struct key){ .press = PRESS_WORD_LEFT };
    if (type != KEY_CODE_YES && c == 'f')
        return (struct key){ .press = PRESS_WORD_RIGHT };
    if (type == KEY_CODE_YES)
        (void)curses.ungetch((int)c);
    else
        (void)curses.unget_wch((wchar_t)c);
    return escape;
}

bool screen_read(struct key *ret)
{
    wint_t c;
    int type = curses.get_wch(&c);

    if (type == ERR)
        return false;
    *ret = type == KEY_CODE_YES ? key_of_code(c) : key_of_character(c);
    if (ret->press == PRESS_ESCAPE)
        *ret = after_escape();
    return true;
}
