import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** Pictures take longer than the tests, so they are taken only if somebody wants to look at them. */
const DIRECTORY = process.env['PARKWAY_SCREENSHOTS']
const WIDTHS = [1440, 390]

/**
 * Takes pictures of the page in both themes, at the width of a desk and of a phone, for people to look at. The page is
 * afterwards as it was before.
 */
export async function takeScreenshots(page: Page, name: string): Promise<void> {
  if (DIRECTORY === undefined || DIRECTORY === '') return
  const before = page.viewportSize()
  await mkdir(DIRECTORY, { recursive: true })
  for (const width of WIDTHS)
    for (const theme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: width > 600 ? 900 : 844 })
      await page.emulateMedia({ colorScheme: theme })
      // The new size and colours are painted with the next frame, and colours fade.
      await page.evaluate(
        `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
          .then(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)))
          .then(() => undefined)`,
      )
      await page.screenshot({ path: join(DIRECTORY, `${name}-${width}-${theme}.png`) })
    }
  await page.emulateMedia({ colorScheme: null })
  if (before !== null) await page.setViewportSize(before)
}
