import type { Finding } from './finding.ts'

/** One JSON object a line. */
export function findingsToLines(findings: readonly Finding[]): string {
  return findings.map((finding) => `${JSON.stringify(finding)}\n`).join('')
}

/** For people. `none` is said if nothing was found. */
export function findingsToText(findings: readonly Finding[], none: string): string {
  if (findings.length === 0) return `${none}\n`
  return findings
    .map(
      ({ level, code, subject, message, mend }) =>
        `${level.padEnd(8)}  ${code}${subject === null ? '' : ` (${subject})`}\n          ${message}\n          → ${mend}\n`,
    )
    .join('\n')
}
