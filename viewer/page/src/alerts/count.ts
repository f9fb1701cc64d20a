// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Alert } from '../protocol/types';

/** The number of alerts of the run that is shown, and whether one of them is an error. */
export const alertsNow = signal<{ count: number; error: boolean }>({ count: 0, error: false });

/** A hook that updates alertsNow. The component that holds the alerts of the run calls it. */
export function alertCount(alerts: Alert[] | null): void {
  useEffect(() => {
    alertsNow.value = { count: alerts?.length ?? 0, error: alerts?.some((one) => one.severity === 'error') ?? false };
  }, [alerts]);
}
