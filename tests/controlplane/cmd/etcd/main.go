// Command etcd serves one in-memory-speed etcd member on loopback for tests: no fsync, no peers.
package main

import (
	"flag"
	"log"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"controlplane/internal/parent"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

func main() {
	dataDir := flag.String("data-dir", "", "folder that holds the member's data")
	clientURL := flag.String("client-url", "http://127.0.0.1:2379", "URL that clients use")
	peerURL := flag.String("peer-url", "http://127.0.0.1:2380", "URL that peers would use")
	flag.Parse()
	parent.ExitAndRemoveWhenGone()
	if err := serve(*dataDir, *clientURL, *peerURL); err != nil {
		log.Fatal(err)
	}
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
