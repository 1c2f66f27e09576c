/** Loads code at its first use, because loading a vendor's package slows down startup. */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined
  return () => (loaded ??= load())
}
