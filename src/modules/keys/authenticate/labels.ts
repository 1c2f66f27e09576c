import type { Caller } from './caller.ts'

const NO_LABELS: readonly string[] = []

/** What the charges of this caller are summed by. */
export function labelsOf({ labels = NO_LABELS }: Pick<Caller, 'labels'>): readonly string[] {
  return labels
}

/** The caller for work that continues after its request: with the labels that were stored with the work. */
export function withLabels(caller: Caller, stored: readonly string[] | null): Caller {
  const { labels: _, ...unlabelled } = caller
  return stored === null ? unlabelled : { ...unlabelled, labels: stored }
}
