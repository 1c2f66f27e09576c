import type { Vendor } from '../../ai-sdk/vendor.ts'
import { createCloudClaudeVendor } from '../cloud-claude-vendor.ts'
import type { CloudOptions } from '../cloud-options.ts'
import { CLAUDE_ON_VERTEX, pathOfClaude } from './vertex-models.ts'

export function createClaudeVendor(options: CloudOptions): Vendor {
  return createCloudClaudeVendor(options, { form: CLAUDE_ON_VERTEX, pathOf: pathOfClaude })
}
