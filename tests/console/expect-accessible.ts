import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Describes only what is wrong, and loads no file again: of the rules that need it one is off by default and one is moderate. */
const RUN = `axe.run({ resultTypes: ['violations'], preload: false }).then(({ violations }) => violations)`

interface Violation {
  readonly id: string
  readonly impact: string
  readonly help: string
  readonly nodes: readonly { readonly target: readonly string[] }[]
}

/** Checks the page with axe. No violation may be serious or critical. */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated by the debugger, which the policy of the page does not bind.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE)
  const violations: readonly Violation[] = await page.evaluate(RUN)
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  expect(
    serious.map(
      ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ target }) => target.join(' ')).join(', ')})`,
    ),
  ).toEqual([])
}
