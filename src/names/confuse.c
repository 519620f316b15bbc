/* SPDX-License-Identifier: MIT
 *
 * Scripts of letters, and letters of other scripts that most fonts draw like a Latin one, except
 * Greek ones that are common in formulas (alpha, nu, rho).
 */
#include "ga/names/names.h"

char ga_lookalike(uint32_t c)
{
	static const struct {
		uint32_t from;
		const char *latin; /* what `from` and the next ones look like; '.': nothing */
	} runs[] = {
		{ 0x391, "AB..EZH.IK.MN.O" }, { 0x3a1, "P..TY.X" }, { 0x3b9, "i" },
		{ 0x3bf, "o" }, { 0x3f2, "c" }, { 0x3f3, "j" }, { 0x3f9, "C" },
		{ 0x405, "SI.J" }, { 0x410, "A.B..E....K.MHO.PCT..X" }, { 0x430, "a....e" },
		{ 0x43e, "o.pc.y.x" }, { 0x455, "si.j" }, { 0x474, "Vv" }, { 0x4ae, "Y" },
		{ 0x4bb, "h" }, { 0x4c0, "I" }, { 0x4cf, "l" }, { 0x501, "d" }, { 0x51b, "q" },
		{ 0x51d, "w" }, { 0x555, "O" }, { 0x578, "n" }, { 0x57d, "u" }, { 0x585, "o" },
		{ 0x581, "g" }, { 0x570, "h" },
	};

	for (size_t i = 0; i < GA_NELEMS(runs); i++) {
		size_t n = __builtin_strlen(runs[i].latin);

		if (c >= runs[i].from && c < runs[i].from + n) {
			char latin = runs[i].latin[c - runs[i].from];

			return latin == '.' ? '\0' : latin;
		}
	}
	return '\0';
}

unsigned ga_script_of(uint32_t c)
{
	static const struct {
		uint32_t first, last;
		unsigned script;
	} runs[] = {
		{ 'A', 'Z', GA_SCRIPT_LATIN }, { 'a', 'z', GA_SCRIPT_LATIN },
		{ 0xc0, 0xd6, GA_SCRIPT_LATIN }, { 0xd8, 0xf6, GA_SCRIPT_LATIN },
		{ 0xf8, 0x24f, GA_SCRIPT_LATIN }, { 0x1e00, 0x1eff, GA_SCRIPT_LATIN },
		{ 0x370, 0x3ff, GA_SCRIPT_GREEK }, { 0x1f00, 0x1fff, GA_SCRIPT_GREEK },
		/* Cyrillic, Armenian, Cherokee, Coptic, Lisu; and Latin letters of other widths and
		 * styles, which some languages take for the plain ones */
		{ 0x400, 0x52f, GA_SCRIPT_OTHER }, { 0x1c80, 0x1c8f, GA_SCRIPT_OTHER },
		{ 0x2de0, 0x2dff, GA_SCRIPT_OTHER }, { 0xa640, 0xa69f, GA_SCRIPT_OTHER },
		{ 0x531, 0x587, GA_SCRIPT_OTHER }, { 0x13a0, 0x13ff, GA_SCRIPT_OTHER },
		{ 0xab70, 0xabbf, GA_SCRIPT_OTHER }, { 0x2c80, 0x2cff, GA_SCRIPT_OTHER },
		{ 0xa4d0, 0xa4ff, GA_SCRIPT_OTHER }, { 0xff21, 0xff3a, GA_SCRIPT_OTHER },
		{ 0xff41, 0xff5a, GA_SCRIPT_OTHER }, { 0x1d400, 0x1d6a5, GA_SCRIPT_OTHER },
	};

	for (size_t i = 0; i < GA_NELEMS(runs); i++)
		if (c >= runs[i].first && c <= runs[i].last)
			return runs[i].script;
	return 0;
}
