/** Names that only have these characters are folded already. */
const IS_FOLDED = /^[a-z0-9_]*$/

/** Folds a member's name like the most lenient JSON readers: to them, `Model` and `ſtore` are `model` and `store`. */
export function foldName(name: string): string {
  return IS_FOLDED.test(name) ? name : name.normalize('NFKC').toLowerCase()
}
