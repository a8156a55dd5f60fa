// Command etcd serves one in-memory-speed etcd member on loopback for tests: no fsync, no peers.
//
// It is a module of its own, so that the programs of Kubernetes keep the versions of their dependencies.
package main

import (
	"flag"
	"io"
	"log"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// remove names the folder of the whole control plane, which the starter asks to remove once it is gone: it holds the
// other end of standard input and never writes to it, so the operating system closes it however the starter ends.
const remove = "OPERETTA_REMOVE_WHEN_STDIN_CLOSES"

func main() {
	dataDir := flag.String("data-dir", "", "folder that holds the member's data")
	clientURL := flag.String("client-url", "http://127.0.0.1:2379", "URL that clients use")
	peerURL := flag.String("peer-url", "http://127.0.0.1:2380", "URL that peers would use")
	flag.Parse()
	if folder := os.Getenv(remove); folder != "" {
		go removeWhenGone(folder)
	}
	if err := serve(*dataDir, *clientURL, *peerURL); err != nil {
		log.Fatal(err)
	}
}

func removeWhenGone(folder string) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = os.RemoveAll(folder)
	os.Exit(0)
}

func serve(dataDir, clientURL, peerURL string) error {
	client, err := url.Parse(clientURL)
	if err != nil {
		return err
	}
	peer, err := url.Parse(peerURL)
	if err != nil {
		return err
	}
	// A test writes little: 64 MB reserved at every start would be the slowest part of it.
	wal.SegmentSizeBytes = 4 << 20
	config := embed.NewConfig()
	config.Dir = dataDir
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	member, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer member.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	select {
	case <-stop:
		return nil
	case err := <-member.Err():
		return err
	}
}
