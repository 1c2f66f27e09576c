import type { Schemas } from '../../../api/client.ts'
import type { ModelCategory } from '../../../api/model-kinds.ts'
import type { OperationAnswer } from '../../../api/send-operation.ts'
import { formatDuration } from '../../../ui/format/format-duration.ts'
import { formatUsd } from '../../../ui/format/format-usd.ts'
import { Section } from '../../../ui/layout/section.tsx'
import { EmbeddingResult } from './embedding-result.tsx'
import { BlobView, PictureView } from './media-view.tsx'
import { ModerationResult } from './moderation-result.tsx'
import { RerankResult, type RerankAnswer } from './rerank-result.tsx'
import { TaskResult } from './task-result.tsx'

interface OperationResultProps {
  readonly category: ModelCategory
  readonly answer: OperationAnswer
  /** What was sent, to be shown beside what came back. */
  readonly texts: Readonly<Record<string, unknown>>
}

/** The answer of a model, in the form that suits it, and what it took. */
export function OperationResult({ category, answer, texts }: OperationResultProps) {
  const figures = [
    `answered in ${formatDuration(answer.elapsedMs)}`,
    answer.costUsd !== null && formatUsd(answer.costUsd),
  ]
  return (
    <Section
      title="Result"
      actions={<span className="tabular text-xs text-ink-faint">{figures.filter(Boolean).join(' · ')}</span>}
    >
      <Content category={category} answer={answer} texts={texts} />
    </Section>
  )
}

/** The shapes are those of the API's own document. */
type Answer = Partial<Schemas['TaskReceipt'] & Schemas['ImageAnswer']> & { readonly text?: string }

function Content({ category, answer: { json, blob }, texts }: OperationResultProps) {
  if (blob !== null) return <BlobView blob={blob} />
  const answer = json as Answer
  if (answer.task_id !== undefined) return <TaskResult id={answer.task_id} />
  switch (category) {
    case 'embedding':
      return <EmbeddingResult answer={json as Schemas['EmbeddingList']} texts={listOf(texts['input'])} />
    case 'rerank':
      return <RerankResult answer={json as RerankAnswer} documents={listOf(texts['documents'])} />
    case 'moderation':
      return <ModerationResult answer={json as Schemas['Moderation']} />
    case 'stt':
      return (
        <p className="whitespace-pre-wrap">{answer.text === '' ? 'No speech was found.' : answer.text}</p>
      )
    case 'image':
    case 'upscale':
    case 'bg_remove':
    case 'video':
    case 'music':
    case 'tts':
    case 'llm':
      return <PictureView pictures={answer.data ?? []} />
  }
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
