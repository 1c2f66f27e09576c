import type { CompareCell, ComparePrompt } from '../../api/compare.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { MarkdownView } from '../../ui/text/markdown-view.tsx'

interface CellSheetProps {
  readonly cell: CompareCell
  readonly prompt: ComparePrompt | undefined
  readonly onClose: () => void
}

/** One answer of a run in full, with its prompt. */
export function CellSheet({ cell, prompt, onClose }: CellSheetProps) {
  const { usage } = cell
  const details = {
    Prompt: `${cell.prompt_index + 1}, repeat ${cell.repeat + 1}`,
    State: cell.status,
    Latency: cell.latency_ms === null ? null : formatDuration(cell.latency_ms),
    'First token': cell.ttft_ms === null ? null : formatDuration(cell.ttft_ms),
    Tokens: usage === null ? null : `${usage.prompt_tokens} in, ${usage.completion_tokens} out`,
    Cost: formatUsd(cell.cost_usd),
    Score: cell.score,
    Request: cell.request_id === null ? null : <CopyableId id={cell.request_id} label="request id" />,
  }
  return (
    <Sheet title={cell.model === '' ? 'Answer' : cell.model} side="right" isOpen onClose={onClose}>
      <div className="flex flex-col gap-4 text-sm">
        {prompt && prompt.text !== '' && (
          <section aria-label="Prompt" className="rounded-md bg-sunken px-3 py-2">
            <p tabIndex={0} className="max-h-48 overflow-auto break-words whitespace-pre-wrap">
              {prompt.text}
              {prompt.is_cut && '…'}
            </p>
            {prompt.is_cut && (
              <p className="mt-2 text-xs text-ink-soft">
                The beginning of the prompt. The export has all of it.
              </p>
            )}
          </section>
        )}
        {cell.error && <p className="rounded-md bg-bad-soft px-3 py-2 break-words">{cell.error.message}</p>}
        {cell.output !== null && <MarkdownView text={cell.output} />}
        <DetailsList details={details} />
      </div>
    </Sheet>
  )
}
