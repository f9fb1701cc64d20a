// SPDX-License-Identifier: Apache-2.0
import { useEffect } from 'preact/hooks';
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { AlertCounter, Alerts } from './alerts/view';
import { alertsNow } from './alerts/count';
import { Curves } from './curves/view';
import { Histograms } from './histograms/view';
import { Log } from './log/view';
import { Overview } from './overview/view';
import { Parameters } from './parameters/view';
import { Runs } from './runs/view';
import { Confusion } from './samples/confusion';
import { Samples } from './samples/view';
import { TimelineView } from './timeline/view';
import { run, view, type View } from './state/place';
import { runs } from './state/session';
import { Banners } from './shell/banners';
import { Header } from './shell/header';
import { Help } from './shell/help';
import { Icon, type IconName } from './ui/icons';
import { useKeys } from './ui/keys';
import { Notices } from './ui/notices';
import { Empty } from './ui/parts';
import { switchTheme } from './ui/theme';

interface Tab {
  view: View;
  title: string;
  icon: IconName;
  key: string;
  content: () => JSX.Element;
}

// To add a view, add a line here and its name in state/place.ts.
const tabs: Tab[] = [
  { view: 'graph', title: 'Graph', icon: 'graph', key: 'g', content: Overview },
  { view: 'curves', title: 'Curves', icon: 'curves', key: 'c', content: Curves },
  { view: 'samples', title: 'Samples', icon: 'samples', key: 's', content: Samples },
  { view: 'histograms', title: 'Histograms', icon: 'histograms', key: 'w', content: Histograms },
  { view: 'confusion', title: 'Confusion', icon: 'confusion', key: 'm', content: Confusion },
  { view: 'timeline', title: 'Timeline', icon: 'timeline', key: 'i', content: TimelineView },
  { view: 'log', title: 'Log', icon: 'log', key: 'l', content: Log },
  { view: 'parameters', title: 'Parameters', icon: 'parameters', key: 'p', content: Parameters },
  { view: 'alerts', title: 'Alerts', icon: 'alerts', key: 'a', content: Alerts },
  { view: 'runs', title: 'Runs', icon: 'runs', key: 'r', content: Runs },
];

export function App() {
  const help = useSignal(false);
  useKeys('Page', [
    ...tabs.map((tab) => ({ key: tab.key, help: tab.title, run: () => (view.value = tab.view) })),
    { key: 't', help: 'Theme: as the system, light, dark', run: switchTheme },
    { key: '?', help: 'Show the keys', run: () => (help.value = true) },
  ]);
  const tab = tabs.find((one) => one.view === view.value)!;
  const Content = tab.content;
  useEffect(() => {
    document.title = run.value ? `${run.value.run} · ${tab.title} · Trainyard` : 'Trainyard';
  }, [run.value?.run, tab]);
  const noRun = runs.value !== null && run.value === null && tab.view !== 'runs';
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}>
        Skip to the content
      </a>
      <Header onHelp={() => (help.value = true)} />
      <nav class="rail" aria-label="Views">
        {tabs.map((one) => (
          <button
            key={one.view}
            type="button"
            aria-current={one.view === view.value ? 'page' : undefined}
            title={`${one.title} (${one.key})`}
            onClick={() => (view.value = one.view)}
          >
            <Icon name={one.icon} />
            <span>{one.title}</span>
            {one.view === 'alerts' && alertsNow.value.count > 0 && (
              <b class={alertsNow.value.error ? 'bad' : ''} aria-label={`${alertsNow.value.count} alerts`}>
                {alertsNow.value.count > 99 ? '99+' : alertsNow.value.count}
              </b>
            )}
          </button>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        <Banners />
        {noRun ? <Empty title="There is no run to show.">Start one with 'trainyard launch'; it appears here by itself.</Empty> : <Content />}
      </main>
      {run.value && view.value !== 'alerts' && <AlertCounter key={run.value.run} run={run.value.run} />}
      <Notices />
      {help.value && <Help onClose={() => (help.value = false)} />}
    </div>
  );
}
