(() => {
  'use strict';
  const byId = (id) => document.getElementById(id);
  const live = byId('live'), table = byId('table'), form = byId('find');
  let source = null, last = 0, heard = 0, query = new URLSearchParams(location.search), asking = 0, timer = 0;

  // State of the connection, in words: nobody should take old figures for new ones.
  const say = (text, bad) => {
    if (live.textContent !== text) live.textContent = text;
    live.hidden = false;
    live.classList.toggle('bad', bad);
  };
  const age = () => last ? ' The figures are ' + Math.round((Date.now() - last) / 1000) + ' s old.' : '';

  function connect() {
    if (source || document.hidden) return;
    source = new EventSource('events');
    heard = Date.now();
    source.onmessage = (e) => {
      last = heard = Date.now();
      const parts = JSON.parse(e.data);
      for (const id of Object.keys(parts)) {
        const el = byId(id);
        if (el && el.innerHTML !== parts[id]) el.innerHTML = parts[id];
      }
      say('live', false);
    };
    source.addEventListener('trouble', (e) => {
      heard = Date.now();
      say('The agent does not answer: ' + e.data, true);
    });
    source.onerror = () => {
      say('No connection to the agent.' + age(), true);
      if (source && source.readyState === EventSource.CLOSED) {
        disconnect();
        setTimeout(connect, 10000);
      }
    };
  }

  function disconnect() {
    if (source) source.close();
    source = null;
  }

  // Something comes every 2 s, every 7 s if the agent does not answer. Where nothing does the line is dead though nothing has
  // ended it, as when a telephone has left the network: without this the old figures would be called live.
  setInterval(() => {
    if (!source || Date.now() - heard < 10000) return;
    say('No connection to the agent.' + age(), true);
    disconnect();
    connect();
  }, 2000);

  // The table of sensors: the server sorts, searches and pages it, as it does without a script.
  async function show() {
    if (!table) return;
    const mine = ++asking;
    clearTimeout(timer);
    const began = performance.now();
    try {
      const res = await fetch('table?' + query, {headers: {'X-Requested-With': 'page'}});
      const text = res.ok ? await res.text() : '';
      if (mine !== asking) return;
      if (text) {
        const focus = document.activeElement && document.activeElement.dataset.sort;
        table.innerHTML = text;
        if (focus) table.querySelector('a[data-sort="' + focus + '"]').focus();
        table.dataset.ms = Math.round(performance.now() - began);
      }
    } catch (e) {
      // the live line says so
    }
    if (mine === asking && !document.hidden) timer = setTimeout(show, 5000);
  }

  function go(next) {
    query = next;
    history.replaceState(null, '', '?' + query + '#sensors');
    show();
  }

  if (table) {
    table.addEventListener('click', (e) => {
      const link = e.target.closest('a[data-sort], a[data-page]');
      if (!link || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
      e.preventDefault();
      go(new URL(link.href).searchParams);
      form.elements.sort.value = query.get('sort') || '';
      form.elements.dir.value = query.get('dir') || '';
    });
    const find = () => {
      const next = new URLSearchParams(new FormData(form));
      go(next);
    };
    let typing = 0;
    form.elements.find.addEventListener('input', () => {
      clearTimeout(typing);
      typing = setTimeout(find, 200);
    });
    form.addEventListener('submit', (e) => {
      e.preventDefault();
      clearTimeout(typing);
      find();
    });
    form.querySelector('button').hidden = true;
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      disconnect();
      clearTimeout(timer);
    } else {
      connect();
      show();
    }
  });
  window.addEventListener('pagehide', disconnect);
  window.addEventListener('pageshow', (e) => { if (e.persisted) connect(); });
  connect();
  if (table) timer = setTimeout(show, 5000);
})();
