import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createDatasetOfBatch } from '../../api/compare.ts'
import type { Batch } from '../../api/batches.ts'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'

const WITH_PROMPTS: ReadonlySet<string> = new Set(['/v1/chat/completions', '/v1/messages', '/v1/responses'])

/** Makes a dataset of the prompts of a batch with its answers. Nothing for a batch that has none. */
export function DatasetAction({ batch }: { readonly batch: Batch }) {
  const queryClient = useQueryClient()
  const make = useMutation({
    mutationFn: () => createDatasetOfBatch(batch.id),
    onSuccess: ({ name, prompts_total: total }) => {
      void queryClient.invalidateQueries({ queryKey: ['compare', 'datasets'] })
      showToast(
        `The dataset “${name}” was made`,
        `${formatCountOf(total, 'prompt')}. A new run can take them.`,
      )
    },
    onError: (error) => showFailure('No dataset was made', error),
  })
  if (batch.output_file_id === null || !WITH_PROMPTS.has(batch.endpoint)) return null
  return (
    <Button icon="plus" isBusy={make.isPending} onClick={() => make.mutate()}>
      Answers as a dataset
    </Button>
  )
}
