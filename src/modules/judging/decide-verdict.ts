import { DUELS_MIN, type Standing } from './rank-contestants.ts'

export type Verdict =
  | { readonly outcome: 'better'; readonly contestant: string; readonly text: string }
  | { readonly outcome: 'no_significant_difference' | 'not_enough_votes'; readonly text: string }

/** Describes what a ranking means, and claims only what is significant. Standings must be sorted best first. */
export function decideVerdict(
  standings: readonly Standing[],
  ballots: number,
  nameOf: (contestant: string) => string,
): Verdict {
  const [best, second] = standings
  if (ballots < DUELS_MIN || best === undefined || second === undefined) {
    return { outcome: 'not_enough_votes', text: `not enough votes (${ballots} of at least ${DUELS_MIN})` }
  }
  const isUndecided = standings.some(({ rank }, index) => index > 0 && rank === best.rank)
  if (isUndecided) return { outcome: 'no_significant_difference', text: describeUndecided(standings, nameOf) }
  return { outcome: 'better', contestant: best.contestant, text: `${nameOf(best.contestant)} is better` }
}

/** Names those that are level, those that are clearly worse, and those with too few votes to tell. */
function describeUndecided(standings: readonly Standing[], nameOf: (contestant: string) => string): string {
  const known = standings.filter(({ interval }) => interval !== null)
  const first = known.filter(({ rank }) => rank === 1)
  const worse = known.filter(({ rank }) => rank > 1)
  const unknown = standings.filter(({ interval }) => interval === null)
  const list = (some: readonly Standing[]): string =>
    listNames(some.map(({ contestant }) => nameOf(contestant)))
  if (known.length < 2 || (worse.length === 0 && unknown.length === 0)) return 'no significant difference'
  const parts =
    first.length === 1 && worse.length > 0
      ? [`${list(first)} is better than ${list(worse)}`]
      : [
          `no significant difference between ${list(first)}`,
          ...(worse.length > 0 ? [`${list(worse)} ${worse.length === 1 ? 'is' : 'are'} worse`] : []),
        ]
  if (unknown.length > 0) parts.push(`too few votes on ${list(unknown)}`)
  return parts.join('; ')
}

const NAMES_MAX = 3

function listNames(names: readonly string[]): string {
  const shown = names.length > NAMES_MAX + 1 ? names.slice(0, NAMES_MAX) : names
  const all = shown.length < names.length ? [...shown, `${names.length - shown.length} others`] : shown
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
