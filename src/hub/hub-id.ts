// The hub's rules: letters and digits, separated by one `.`, `_` or `-`. The model name may also contain `--`.
const HUB_ID = /^(?:[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*\/)?[A-Za-z0-9]+(?:(?:[._]|-{1,2})[A-Za-z0-9]+)*$/
const HUB_ID_LENGTH_MAX = 193

/** Returns whether the text is the id of a model, such as `Qwen/Qwen3-8B` or `gpt2`. */
export function isHubId(text: string): boolean {
  return text.length <= HUB_ID_LENGTH_MAX && HUB_ID.test(text)
}

const COMMIT = /^[0-9a-f]{40}$/

export function isCommit(text: string): boolean {
  return COMMIT.test(text)
}

const PATH_LENGTH_MAX = 500
const SEGMENT_LENGTH_MAX = 200
const SEGMENTS_MAX = 8
// oxlint-disable-next-line no-control-regex -- control characters are what it must find
const UNSAFE = /[\x00-\x1f\x7f\\]/

/** Returns whether a file of a repository can be stored under this path without leaving its directory. */
export function isFilePath(path: string): boolean {
  if (path.length > PATH_LENGTH_MAX || UNSAFE.test(path)) return false
  const segments = path.split('/')
  return (
    segments.length <= SEGMENTS_MAX &&
    segments.every(
      (segment) =>
        segment !== '' && segment !== '.' && segment !== '..' && segment.length <= SEGMENT_LENGTH_MAX,
    )
  )
}
