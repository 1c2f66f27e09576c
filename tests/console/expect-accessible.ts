import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly impact: string
  readonly help: string
  readonly nodes: readonly { readonly target: readonly string[] }[]
}

/** Checks the page with axe. No violation may be serious or critical. */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated by the debugger, which the policy of the page does not bind.
  await page.evaluate(AXE)
  const violations: readonly Violation[] = await page.evaluate(
    'axe.run().then(({ violations }) => violations)',
  )
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  expect(
    serious.map(
      ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ target }) => target.join(' ')).join(', ')})`,
    ),
  ).toEqual([])
}
