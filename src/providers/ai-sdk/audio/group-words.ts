import type { TranscriptSegment, TranscriptWord } from '../../media/audio-operations.ts'

const PAUSE_SECONDS = 1
const SEGMENT_SECONDS_MAX = 15
const SENTENCE_END = /[.?!…。！？]["'”’)\]]*$/u
/** Languages that are written without spaces between words. */
const UNSPACED_LANGUAGES = new Set(['zh', 'ja', 'th', 'lo', 'my', 'km'])

/**
 * Groups words into segments for subtitles, for vendors that report times of words only. A segment is a sentence, or the words
 * between two pauses.
 */
export function groupWords(words: readonly TranscriptWord[], language: string | null): TranscriptSegment[] {
  const separator = UNSPACED_LANGUAGES.has(language ?? '') ? '' : ' '
  const groups: TranscriptWord[][] = []
  let group: TranscriptWord[] = []
  for (const [index, word] of words.entries()) {
    group.push(word)
    if (!isLastOfSegment(group, words[index + 1])) continue
    groups.push(group)
    group = []
  }
  return groups.map((members) => ({
    startSeconds: members[0]?.startSeconds ?? 0,
    endSeconds: members.at(-1)?.endSeconds ?? 0,
    text: members.map(({ word }) => word).join(separator),
  }))
}

function isLastOfSegment(group: readonly TranscriptWord[], next: TranscriptWord | undefined): boolean {
  const [first, last] = [group[0], group.at(-1)]
  if (next === undefined || first === undefined || last === undefined) return true
  return (
    SENTENCE_END.test(last.word) ||
    next.startSeconds - last.endSeconds > PAUSE_SECONDS ||
    next.endSeconds - first.startSeconds > SEGMENT_SECONDS_MAX
  )
}
