const GRAM_LENGTH = 3

/**
 * How similar two texts are, from 0 to 1: the share of runs of three characters that they have in common (Dice), without regard to case and
 * white space. Takes linear time.
 */
export function textSimilarity(one: string, other: string): number {
  const [left, right] = [normalise(one), normalise(other)]
  if (left === right) return 1
  const grams = countGrams(left)
  let common = 0
  const total = gramsIn(left) + gramsIn(right)
  for (let start = 0; start + GRAM_LENGTH <= right.length; start += 1) {
    const gram = right.slice(start, start + GRAM_LENGTH)
    const count = grams.get(gram) ?? 0
    if (count === 0) continue
    grams.set(gram, count - 1)
    common += 1
  }
  return total === 0 ? 0 : (2 * common) / total
}

function normalise(text: string): string {
  return text.toLowerCase().split(/\s+/u).join(' ').trim()
}

function gramsIn(text: string): number {
  return Math.max(0, text.length - GRAM_LENGTH + 1)
}

function countGrams(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (let start = 0; start + GRAM_LENGTH <= text.length; start += 1) {
    const gram = text.slice(start, start + GRAM_LENGTH)
    counts.set(gram, (counts.get(gram) ?? 0) + 1)
  }
  return counts
}
