/** For longer texts the built-in search can take time proportional to the product of both lengths. */
const PRODUCT_MAX = 1_000_000

/** Whether a text contains another one, in time proportional to the sum of their lengths. */
export function hasText(text: string, wanted: string): boolean {
  return text.length * wanted.length <= PRODUCT_MAX ? text.includes(wanted) : searchLinear(text, wanted)
}

// Knuth-Morris-Pratt failure table.
function searchLinear(text: string, wanted: string): boolean {
  const fallbacks = listFallbacks(wanted)
  let matched = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = fallbacks[matched - 1] ?? 0
    if (wanted.charCodeAt(matched) === unit) matched += 1
    if (matched === wanted.length) return true
  }
  return false
}

function listFallbacks(wanted: string): Int32Array {
  const fallbacks = new Int32Array(wanted.length)
  let matched = 0
  for (let index = 1; index < wanted.length; index += 1) {
    const unit = wanted.charCodeAt(index)
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = fallbacks[matched - 1] ?? 0
    if (wanted.charCodeAt(matched) === unit) matched += 1
    fallbacks[index] = matched
  }
  return fallbacks
}
