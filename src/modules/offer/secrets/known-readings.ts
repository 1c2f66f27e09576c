interface Reading {
  readonly problem: string | null
}

/** What was read from places that may change, by the name of the place. */
export interface KnownReadings<Read extends Reading> {
  read(name: string): Read
  /** Reads again what changed or could not be read. Returns whether anything is different. */
  refresh(): boolean
  /** Forgets all but these. */
  keep(names: ReadonlySet<string>): void
}

interface ReadingsOptions<Read> {
  readonly readNow: (name: string) => Read
  /** Another text after each change. */
  readonly fingerprintOf: (name: string) => string
  readonly isSame: (one: Read, other: Read) => boolean
}

export function createKnownReadings<Read extends Reading>({
  readNow,
  fingerprintOf,
  isSame,
}: ReadingsOptions<Read>): KnownReadings<Read> {
  const known = new Map<string, { readonly reading: Read; readonly fingerprint: string }>()
  const look = (name: string): Read => {
    // Taken before the place is read, so that a change in between is noticed by the next look.
    const fingerprint = fingerprintOf(name)
    const reading = readNow(name)
    known.set(name, { reading, fingerprint })
    return reading
  }
  return {
    read: (name) => known.get(name)?.reading ?? look(name),
    refresh: () => {
      let isDifferent = false
      for (const [name, { reading, fingerprint }] of known) {
        if (reading.problem === null && fingerprint === fingerprintOf(name)) continue
        if (!isSame(look(name), reading)) isDifferent = true
      }
      return isDifferent
    },
    keep: (names) => {
      for (const name of known.keys()) if (!names.has(name)) known.delete(name)
    },
  }
}
