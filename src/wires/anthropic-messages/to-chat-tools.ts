import { AppError } from '../../kernel/app-error.ts'
import type { ChatRequest, ChatTool } from '../openai-chat/chat-request.ts'
import type { CountTokensRequest, MessagesTool } from './messages-request.ts'
import { nativeOnly } from './native-only.ts'

type ToolMembers = Pick<ChatRequest, 'tools' | 'tool_choice' | 'parallel_tool_calls'>

export function toChatTools({ tools, tool_choice: choice }: CountTokensRequest): ToolMembers {
  if (!tools || tools.length === 0) return {}
  return {
    tools: tools.map((tool, index) => toChatTool(tool, `tools.${index}`)),
    ...(choice ? { tool_choice: toChatChoice(choice) } : {}),
    ...(choice?.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}),
  }
}

function toChatTool(tool: MessagesTool, param: string): ChatTool {
  const { type = 'custom', name, description, input_schema: parameters, strict } = tool
  if (type !== 'custom' && type !== null)
    throw nativeOnly(`${param}.type`, `The tool ${JSON.stringify(type)}`)
  if (name === undefined) throw missing(`${param}.name`)
  if (parameters === undefined) throw missing(`${param}.input_schema`)
  return {
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      parameters,
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  }
}

function toChatChoice({
  type,
  name,
}: NonNullable<CountTokensRequest['tool_choice']>): NonNullable<ChatRequest['tool_choice']> {
  if (type === 'any') return 'required'
  if (type !== 'tool') return type
  if (name === undefined) throw missing('tool_choice.name')
  return { type: 'function', function: { name } }
}

function missing(param: string): AppError {
  return new AppError('missing_required_parameter', `${param} is required.`, { param })
}
