const ADDRESS = /^(?:https?:\/\/)?(?:www\.)?(?:huggingface\.co|hf\.co)\//i

/** Returns the id of a model from what was typed: the id itself, or the address of one of its pages. */
export function readHubId(text: string): string {
  const trimmed = text.trim()
  const [owner, name] = trimmed.replace(ADDRESS, '').split(/[/?#]/)
  return ADDRESS.test(trimmed) && owner && name ? `${owner}/${name}` : trimmed
}
