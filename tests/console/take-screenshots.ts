import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const DIRECTORY = process.env['PARKWAY_SCREENSHOTS'] ?? join(tmpdir(), 'parkway-screenshots')
const WIDTHS = [1440, 390]

/** Takes pictures of the page in both themes, at the width of a desk and of a phone, for people to look at. */
export async function takeScreenshots(page: Page, name: string): Promise<void> {
  await mkdir(DIRECTORY, { recursive: true })
  for (const width of WIDTHS)
    for (const theme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: width > 600 ? 900 : 844 })
      await page.emulateMedia({ colorScheme: theme })
      await page.screenshot({ path: join(DIRECTORY, `${name}-${width}-${theme}.png`) })
    }
}
