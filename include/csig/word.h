/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tag in one 64 bit word, as the maps of the host hold it (linux/csig_bpf.h).  Pure
 * C: which bits mean what is here, when a word is written is in bpf/.
 */
#ifndef CSIG_WORD_H
#define CSIG_WORD_H

#include <csig/wire.h>
#include <linux/csig_bpf.h>

/**
 * csig_word_encode() - put a tag into a word
 * @tag: decoded tag
 *
 * Return: the word, with CSIG_BPF_WORD_VALID
 */
static inline __u64 csig_word_encode(const struct csig_tag *tag)
{
	__u64 word = CSIG_BPF_WORD_VALID;
	__u8 data[6];

	csig_encode(tag, data);
	if (tag->format == CSIG_FORMAT_COMPACT)
		return word | csig_get16(data);
	return word | CSIG_BPF_WORD_EXPANDED | (__u64)csig_get16(data) << 32 |
	       (__u64)csig_get16(data + 2) << 16 | csig_get16(data + 4);
}

/**
 * csig_word_decode() - take a tag out of a word
 * @word: of a map
 * @tag: filled in
 *
 * Return: true when the word holds a tag
 */
static inline bool csig_word_decode(__u64 word, struct csig_tag *tag)
{
	__u8 data[6];

	if (!(word & CSIG_BPF_WORD_VALID))
		return false;
	if (!(word & CSIG_BPF_WORD_EXPANDED)) {
		csig_put16(data, (__u16)word);
		csig_decode(CSIG_FORMAT_COMPACT, data, tag);
		return true;
	}
	csig_put16(data, (__u16)(word >> 32));
	csig_put16(data + 2, (__u16)(word >> 16));
	csig_put16(data + 4, (__u16)word);
	csig_decode(CSIG_FORMAT_EXPANDED, data, tag);
	return true;
}

#endif /* CSIG_WORD_H */
