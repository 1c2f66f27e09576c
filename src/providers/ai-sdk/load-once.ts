/** Code that loads with its first use: a vendor's package costs a start too much. */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined
  return () => (loaded ??= load())
}
