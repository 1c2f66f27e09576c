import { expect } from 'vitest'
import type { Finding } from '../finding.ts'

export const codes = (findings: readonly Finding[]) => findings.map(({ code }) => code)

export function expectMended(findings: readonly Finding[], code: string): void {
  const found = findings.filter((finding) => finding.code === code)
  expect([code, found.length > 0, codes(findings)]).toEqual([code, true, codes(findings)])
  for (const { message, mend } of found) {
    expect(message.length).toBeGreaterThan(10)
    expect(mend.length).toBeGreaterThan(10)
  }
}
