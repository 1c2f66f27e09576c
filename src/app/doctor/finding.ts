/** Something that the doctor found wrong, and how to mend it. */
export interface Finding {
  /** `critical` costs answers or money now, `warning` will, `info` is worth knowing. */
  readonly level: 'critical' | 'warning' | 'info'
  /** What it is, for programs. */
  readonly code: string
  /** The table, provider or setting that it is about. Null for the whole gateway. */
  readonly subject: string | null
  readonly message: string
  readonly mend: string
}

const LEVELS = ['critical', 'warning', 'info'] as const

/** The most urgent first. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level))
}
