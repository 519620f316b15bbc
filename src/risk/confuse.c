/* SPDX-License-Identifier: MIT
 *
 * Letters of other scripts that most fonts draw like a Latin one. Greek letters that are common
 * beside Latin ones in formulas (alpha, nu, rho) are left out.
 */
#include "internal.h"

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
