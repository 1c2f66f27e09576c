import { describe, expect, test } from 'vitest'
import { createCall } from '../../../../tests/upstreams/call-provider.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import { anthropicVendor } from '../vendors/anthropic-vendor.ts'
import { googleVendor } from '../vendors/google-vendor.ts'
import { toUpstreamError } from '../exchange/to-upstream-error.ts'
import { translateRequest } from './translate-request.ts'

const weather = { type: 'function' as const, function: { name: 'get_weather' } }
const stocks = { type: 'function' as const, function: { name: 'get_stocks' } }
const shell = { type: 'custom' as const, custom: { name: 'run_shell' } }

describe.each([['anthropic', anthropicVendor] as const, ['google', googleVendor] as const])(
  'tools for %s',
  (_name, vendor) => {
    const translate = (body: Partial<ChatRequest>) => translateRequest(createCall(body), vendor, 0)
    const refusalOf = (body: Partial<ChatRequest>) => {
      try {
        translate(body)
      } catch (error) {
        return toUpstreamError(vendor.key, error, { wasRequestSent: false, nowMs: 0 })
      }
      throw new Error('expected a refusal')
    }
    const allow = (mode: 'auto' | 'required', ...tools: { type: string }[]) => ({
      type: 'allowed_tools' as const,
      allowed_tools: { mode, tools },
    })

    test('only allowed tools are sent', () => {
      const options = translate({ tools: [weather, stocks], tool_choice: allow('required', stocks) })
      expect(options.tools).toMatchObject([{ name: 'get_stocks' }])
      expect(options.toolChoice).toEqual({ type: 'required' })
      expect(translate({ tools: [weather], tool_choice: allow('auto') }).tools).toBeUndefined()
    })

    test('a choice of an unknown tool is refused', () => {
      const refused = refusalOf({ tools: [weather], tool_choice: allow('auto', stocks) })
      expect(refused).toMatchObject({
        isRequestAtFault: true,
        details: { upstreamParam: 'tool_choice', upstreamCode: 'invalid_value' },
      })
    })

    test('custom tools, and calls of them, are refused with their place', () => {
      expect(refusalOf({ tools: [weather, shell] })).toMatchObject({
        isRequestAtFault: true,
        details: { status: 400, upstreamParam: 'tools.1', upstreamCode: 'unsupported_parameter' },
      })
      const messages = [
        {
          role: 'assistant' as const,
          tool_calls: [{ id: 'c', type: 'custom' as const, custom: { name: 'run_shell', input: 'ls' } }],
        },
      ]
      expect(refusalOf({ messages })).toMatchObject({
        details: { upstreamParam: 'messages.0.tool_calls.0', upstreamCode: 'unsupported_parameter' },
      })
    })

    test('null means the same as absent', () => {
      const bare = { type: 'function' as const, function: { name: 'f' } }
      const nulls = {
        type: 'function' as const,
        function: { name: 'f', description: null, parameters: null, strict: null },
      }
      expect(translate({ tools: [nulls] })).toEqual(translate({ tools: [bare] }))
      const format = (json_schema: { name: string; description?: null; schema?: null }) =>
        translate({ response_format: { type: 'json_schema', json_schema } })
      expect(format({ name: 's', description: null, schema: null })).toEqual(format({ name: 's' }))
    })
  },
)

test('allowed tools that need not be called keep reasoning on', () => {
  const think = (mode: 'auto' | 'required') =>
    translateRequest(
      createCall(
        {
          tools: [weather],
          tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: [weather] } },
          think: true,
          max_tokens: 8000,
        },
        { upstreamModel: 'claude-sonnet-4-5' },
      ),
      anthropicVendor,
      0,
    ).providerOptions?.['anthropic']?.['thinking']
  expect(think('auto')).toMatchObject({ type: 'enabled' })
  expect(think('required')).toBeUndefined()
})
